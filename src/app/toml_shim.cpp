// SPDX-License-Identifier: MIT OR Apache-2.0
#include "app/toml_shim.h"

#include <algorithm>
#include <cstdio>
#include <deque>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>

namespace {

// An item with the storage its pointers need. Lives in a deque, so that it never moves.
struct stored {
    std::string section, key, string;
    std::vector<std::string> elements;
    std::vector<const char *> pointers;
    toml_item item{};
};

const char *name_of(toml::node_type t) {
    switch (t) {
    case toml::node_type::table: return "a table";
    case toml::node_type::array: return "a list";
    case toml::node_type::string: return "a string";
    case toml::node_type::integer: return "an integer";
    case toml::node_type::floating_point: return "a number with a fraction";
    case toml::node_type::boolean: return "true or false";
    case toml::node_type::date: return "a date";
    case toml::node_type::time: return "a time";
    case toml::node_type::date_time: return "a date and time";
    default: return "nothing";
    }
}

void fill_list(stored &s, const toml::array &list) {
    for (const toml::node &e : list) {
        if (const auto *text = e.as_string())
            s.elements.push_back(text->get());
        else if (const auto *number = e.as_integer())
            s.elements.push_back(std::to_string(number->get()));
        else if (s.item.other == nullptr)
            s.item.other = name_of(e.type());
    }
    for (const std::string &e : s.elements) s.pointers.push_back(e.c_str());
    s.item.elements = s.pointers.data();
    s.item.n_elements = s.pointers.size();
}

void add(std::deque<stored> &items, std::string_view section, std::string_view key, const toml::source_position &at,
         const toml::node &node) {
    stored &s = items.emplace_back();
    s.section = section;
    s.key = key;
    s.item.line = static_cast<uint32_t>(at.line);
    s.item.column = static_cast<uint32_t>(at.column);
    s.item.type_name = name_of(node.type());
    s.item.type = TOML_OTHER;
    if (const auto *text = node.as_string()) {
        s.item.type = TOML_STRING;
        s.string = text->get();
        s.item.string_len = s.string.size();
    } else if (const auto *number = node.as_integer()) {
        s.item.type = TOML_INTEGER;
        s.item.integer = number->get();
    } else if (const auto *flag = node.as_boolean()) {
        s.item.type = TOML_BOOL;
        s.item.boolean = flag->get();
    } else if (const auto *list = node.as_array()) {
        s.item.type = TOML_LIST;
        fill_list(s, *list);
    } else if (node.is_table()) {
        s.item.type = TOML_TABLE;
    }
    s.item.section = s.section.c_str();
    s.item.key = s.key.c_str();
    s.item.string = s.string.c_str();
}

void describe(toml_mistake *m, unsigned line, unsigned column, const char *text) {
    m->line = line;
    m->column = column;
    std::snprintf(m->text, sizeof m->text, "%s", text);
}

} // namespace

struct toml_document {
    std::deque<stored> items;
    std::vector<const toml_item *> order;
};

extern "C" toml_document *toml_read(const char *text, size_t len, toml_mistake *mistake) {
    toml_document *d = nullptr;
    try {
        const toml::table root = toml::parse(std::string_view(text, len));
        d = new toml_document;
        for (const auto &[section, node] : root) {
            const toml::table *table = node.as_table();
            if (table == nullptr && !node.is_array_of_tables()) {
                add(d->items, "", section.str(), section.source().begin, node);
                continue;
            }
            add(d->items, section.str(), "", section.source().begin, node);
            if (table != nullptr)
                for (const auto &[key, value] : *table)
                    add(d->items, section.str(), key.str(), key.source().begin, value);
        }
        for (const stored &s : d->items) d->order.push_back(&s.item);
        std::stable_sort(d->order.begin(), d->order.end(), [](const toml_item *a, const toml_item *b) {
            return a->line != b->line ? a->line < b->line : a->column < b->column;
        });
        return d;
    } catch (const toml::parse_error &e) {
        const std::string what(e.description());
        describe(mistake, e.source().begin.line, e.source().begin.column, what.c_str());
    } catch (const std::exception &e) {
        describe(mistake, 0, 0, e.what());
    } catch (...) {
        describe(mistake, 0, 0, "unknown failure");
    }
    delete d;
    return nullptr;
}

extern "C" size_t toml_count(const toml_document *d) { return d->order.size(); }

extern "C" const toml_item *toml_at(const toml_document *d, size_t i) { return d->order[i]; }

extern "C" void toml_free(toml_document *d) { delete d; }
