// SPDX-License-Identifier: MIT OR Apache-2.0
#ifndef CUZK_SERVICE_HIDE_H
#define CUZK_SERVICE_HIDE_H

// Makes an error's text fit for logs and the status, which strangers may read: "..." takes the place of what it quotes
// of somebody's input. Who sent the input is told the text as it is. Hidden are
//   - hex of 16 bytes and more, unless it is part of a file's name (of parameters: "v28-...-032d31.params");
//   - behind the first "found": all from its first quote to the text's last one, and a number of more than ten
//     characters.
// What is expected, where, and small counts stay. The text never becomes longer.
void hide_inputs(char *text);

#endif
