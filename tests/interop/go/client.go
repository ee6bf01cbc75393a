// SPDX-License-Identifier: MIT OR Apache-2.0

// Package interop is a client of the daemon with the dial options of Curio's, for the tests beside it. The messages are
// generated from proto/ when the tests are run (scripts/interop.sh); nothing generated is committed.
package interop

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"

	pb "interop/cuzkv1"
)

const callLimit = 256 << 20

type client struct {
	conn *grpc.ClientConn
	svc  pb.ProvingEngineClient
}

// dial takes what Curio's configuration takes: "host:port" or "unix:///path".
func dial(addr string) (*client, error) { return dialWith(addr, insecure.NewCredentials()) }

func dialWith(addr string, creds credentials.TransportCredentials) (*client, error) {
	if !strings.Contains(addr, "://") && !strings.HasPrefix(addr, "unix:") {
		addr = "dns:///" + addr
	}
	conn, err := grpc.NewClient(addr,
		grpc.WithTransportCredentials(creds),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(callLimit), grpc.MaxCallSendMsgSize(callLimit)))
	if err != nil {
		return nil, err
	}
	return &client{conn, pb.NewProvingEngineClient(conn)}, nil
}

// prove waits for the result; whatever is not COMPLETED is an error with the daemon's text.
func (c *client) prove(ctx context.Context, req *pb.SubmitProofRequest) (*pb.AwaitProofResponse, error) {
	resp, err := c.svc.Prove(ctx, &pb.ProveRequest{Submit: req})
	if err != nil {
		return nil, err
	}
	if resp.Result == nil {
		return nil, fmt.Errorf("an answer without a result")
	}
	if resp.Result.Status != pb.AwaitProofResponse_COMPLETED {
		return resp.Result, fmt.Errorf("%v: %s", resp.Result.Status, resp.Result.ErrorMessage)
	}
	return resp.Result, nil
}

// inFlight is what Curio's backpressure counts: everything pending or in progress, of any kind.
func (c *client) inFlight(ctx context.Context) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	s, err := c.svc.GetStatus(ctx, &pb.GetStatusRequest{})
	if err != nil {
		return 0, err
	}
	n := 0
	for _, q := range s.Queues {
		n += int(q.Pending + q.InProgress)
	}
	return n, nil
}

// envelope is the wrapping that Curio gives the output of C1; []byte becomes base64.
func envelope(c1 []byte, number int64, size uint64) []byte {
	b, err := json.Marshal(struct {
		SectorNum  int64
		Phase1Out  []byte
		SectorSize uint64
	}{number, c1, size})
	if err != nil {
		panic(err)
	}
	return b
}
