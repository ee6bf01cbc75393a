// SPDX-License-Identifier: MIT OR Apache-2.0

// Against a running daemon with toy circuits and one slow simulated device; scripts/interop.sh starts it and sets
//
//	CUZK_ADDR    host:port of gRPC        CUZK_UNIX       path of a second daemon's socket
//	CUZK_BIN     the program              CUZK_PARAMS_DIR parameters of the 2 KiB PoRep
//	CUZK_VECTORS tests/vectors            GRPCURL         grpcurl
//	CUZK_TLS     host:port of a third     CUZK_TLS_FILES  folder of its certificates
package interop

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	pb "interop/cuzkv1"
)

const kib2 = 2048

func env(t *testing.T, name string) string {
	t.Helper()
	v := os.Getenv(name)
	if v == "" {
		t.Skipf("%s is not set; scripts/interop.sh sets it", name)
	}
	return v
}

func connect(t *testing.T, addr string) *client {
	t.Helper()
	c, err := dial(addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.conn.Close() })
	return c
}

func tcp(t *testing.T) *client { return connect(t, env(t, "CUZK_ADDR")) }

func limit(t *testing.T, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), d)
	t.Cleanup(cancel)
	return ctx
}

func wantCode(t *testing.T, err error, code codes.Code, words ...string) {
	t.Helper()
	if status.Code(err) != code {
		t.Fatalf("expected %v, got %v", code, err)
	}
	for _, w := range words {
		if !strings.Contains(strings.ToLower(err.Error()), strings.ToLower(w)) {
			t.Fatalf("no %q in %v", w, err)
		}
	}
}

func vector(t *testing.T, name, file string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(env(t, "CUZK_VECTORS"), "cases", name, file))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func sectorNumber(t *testing.T, name string) uint64 {
	t.Helper()
	var m struct {
		SectorID uint64 `json:"sector_id"`
	}
	if err := json.Unmarshal(vector(t, name, "meta.json"), &m); err != nil {
		t.Fatal(err)
	}
	return m.SectorID
}

// verify has the program check a proof against the case's commitments.
func verify(t *testing.T, name string, proof []byte) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "proof")
	if err := os.WriteFile(file, proof, 0o600); err != nil {
		t.Fatal(err)
	}
	c1 := filepath.Join(env(t, "CUZK_VECTORS"), "cases", name, "c1.json")
	cmd := exec.Command(env(t, "CUZK_BIN"), "verify", "--kind", "porep", "--c1", c1, "--params", env(t, "CUZK_PARAMS_DIR"), "--proof", file)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("verify: %v: %s", err, out)
	}
}

var unique struct {
	sync.Mutex
	n int
}

func id(t *testing.T) string {
	unique.Lock()
	defer unique.Unlock()
	unique.n++
	return fmt.Sprintf("%s-%d-%d", t.Name(), os.Getpid(), unique.n)
}

func toy(id string, seed uint64, partitions uint64) *pb.SubmitProofRequest {
	return &pb.SubmitProofRequest{RequestId: id, ProofKind: pb.ProofKind_TEST_TOY, SectorSize: partitions,
		VanillaProof: binary.LittleEndian.AppendUint64(nil, seed)}
}

// The request that Curio sends for a sector, in its envelope.
func TestPoRepAsCurioAsks(t *testing.T) {
	c, ctx := tcp(t), limit(t, 5*time.Minute)
	const name = "porep-2k-a"
	number := sectorNumber(t, name)
	res, err := c.prove(ctx, &pb.SubmitProofRequest{
		RequestId: id(t), ProofKind: pb.ProofKind_POREP_SEAL_COMMIT, SectorSize: kib2, RegisteredProof: 5,
		Priority: pb.Priority_NORMAL, VanillaProof: envelope(vector(t, name, "c1.json"), int64(number), kib2), SectorNumber: number, MinerId: 1000,
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(res.Proof) != 192 || res.ErrorMessage != "" || !strings.HasPrefix(res.JobId, t.Name()) {
		t.Fatalf("%d bytes of proof, job %q, error %q", len(res.Proof), res.JobId, res.ErrorMessage)
	}
	if res.TotalMs == 0 || res.SynthesisMs+res.GpuComputeMs == 0 || res.SynthesisMs > res.TotalMs {
		t.Fatalf("times make no sense: %v", res)
	}
	verify(t, name, res.Proof)
}

// The same sector, plain C1, by submit and await, over a unix socket. The daemon there has the fixed blinding label of
// the golden proofs unless it says otherwise.
func TestPlainC1OverUnixSocket(t *testing.T) {
	c, ctx := connect(t, "unix://"+env(t, "CUZK_UNIX")), limit(t, 5*time.Minute)
	const name = "porep-2k-v10"
	sub, err := c.svc.SubmitProof(ctx, &pb.SubmitProofRequest{ProofKind: pb.ProofKind_POREP_SEAL_COMMIT,
		SectorSize: kib2, VanillaProof: vector(t, name, "c1.json")})
	if err != nil {
		t.Fatal(err)
	}
	if len(sub.JobId) != 36 {
		t.Fatalf("a job without a request id is called %q, no uuid", sub.JobId)
	}
	res, err := c.svc.AwaitProof(ctx, &pb.AwaitProofRequest{JobId: sub.JobId})
	if err != nil || res.Status != pb.AwaitProofResponse_COMPLETED {
		t.Fatal(res, err)
	}
	verify(t, name, res.Proof)
	again, err := c.svc.AwaitProof(ctx, &pb.AwaitProofRequest{JobId: sub.JobId})
	if err != nil || !bytes.Equal(again.Proof, res.Proof) {
		t.Fatal("a later await has another answer: ", err)
	}
}

// "unix:" with a path, as Go's resolver also takes it.
func TestUnixTargetForms(t *testing.T) {
	c := connect(t, "unix:"+env(t, "CUZK_UNIX"))
	if _, err := c.inFlight(limit(t, 5*time.Second)); err != nil {
		t.Fatal(err)
	}
}

func TestSameIDJoinsAndConflicts(t *testing.T) {
	c, ctx := tcp(t), limit(t, time.Minute)
	name := id(t)
	a, err := c.svc.SubmitProof(ctx, toy(name, 1, 2))
	if err != nil {
		t.Fatal(err)
	}
	b, err := c.svc.SubmitProof(ctx, toy(name, 1, 2))
	if err != nil || a.JobId != b.JobId {
		t.Fatal(a, b, err)
	}
	_, err = c.svc.SubmitProof(ctx, toy(name, 2, 2))
	wantCode(t, err, codes.AlreadyExists)
	var wg sync.WaitGroup
	proofs := make([][]byte, 4)
	for i := range proofs {
		wg.Add(1)
		go func() {
			defer wg.Done()
			if r, err := c.svc.AwaitProof(ctx, &pb.AwaitProofRequest{JobId: a.JobId}); err == nil {
				proofs[i] = r.Proof
			}
		}()
	}
	wg.Wait()
	for _, p := range proofs {
		if len(p) != 2*192 || !bytes.Equal(p, proofs[0]) {
			t.Fatal("waiters of one job got different answers")
		}
	}
}

// Curio counts pending and in-progress jobs and does not submit beyond its limit; the daemon's own limit stands behind.
func TestBackpressure(t *testing.T) {
	c, ctx := tcp(t), limit(t, 2*time.Minute)
	accepted, refused := []string{}, 0
	for i := range 40 {
		s, err := c.svc.SubmitProof(ctx, toy(id(t), uint64(i), 1))
		switch status.Code(err) {
		case codes.OK:
			accepted = append(accepted, s.JobId)
		case codes.ResourceExhausted:
			refused++
		default:
			t.Fatal(err)
		}
		n, err := c.inFlight(ctx)
		if err != nil || n > len(accepted) || n > 16 {
			t.Fatalf("%d in flight of %d accepted: %v", n, len(accepted), err)
		}
	}
	if refused == 0 {
		t.Error("forty jobs at once, max_pending is 12, and none was refused")
	}
	for _, j := range accepted {
		r, err := c.svc.AwaitProof(ctx, &pb.AwaitProofRequest{JobId: j})
		if err != nil || r.Status != pb.AwaitProofResponse_COMPLETED {
			t.Fatal(r, err)
		}
	}
	if n, err := c.inFlight(ctx); err != nil || n != 0 {
		t.Fatalf("%d in flight when all is done: %v", n, err)
	}
}

func TestCancel(t *testing.T) {
	c, ctx := tcp(t), limit(t, time.Minute)
	s, err := c.svc.SubmitProof(ctx, toy(id(t), 7, 30))
	if err != nil {
		t.Fatal(err)
	}
	waiter := make(chan *pb.AwaitProofResponse, 1)
	go func() {
		r, _ := c.svc.AwaitProof(ctx, &pb.AwaitProofRequest{JobId: s.JobId})
		waiter <- r
	}()
	time.Sleep(300 * time.Millisecond)
	k, err := c.svc.CancelProof(ctx, &pb.CancelProofRequest{JobId: s.JobId})
	if err != nil || !k.WasRunning {
		t.Fatal(k, err)
	}
	r := <-waiter
	if r == nil || r.Status != pb.AwaitProofResponse_CANCELLED || len(r.Proof) != 0 {
		t.Fatal("the waiter of a cancelled job got ", r)
	}
	if _, err = c.svc.CancelProof(ctx, &pb.CancelProofRequest{JobId: s.JobId}); err != nil {
		t.Fatal("cancelling twice: ", err)
	}
	_, err = c.svc.CancelProof(ctx, &pb.CancelProofRequest{JobId: "nobody"})
	wantCode(t, err, codes.NotFound)
}

func TestTimeouts(t *testing.T) {
	c, ctx := tcp(t), limit(t, time.Minute)
	s, err := c.svc.SubmitProof(ctx, toy(id(t), 8, 8))
	if err != nil {
		t.Fatal(err)
	}
	r, err := c.svc.AwaitProof(ctx, &pb.AwaitProofRequest{JobId: s.JobId, TimeoutMs: 100})
	if err != nil || r.Status != pb.AwaitProofResponse_TIMEOUT {
		t.Fatal(r, err)
	}
	short, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
	defer cancel()
	_, err = c.svc.AwaitProof(short, &pb.AwaitProofRequest{JobId: s.JobId})
	wantCode(t, err, codes.DeadlineExceeded)
	r, err = c.svc.AwaitProof(ctx, &pb.AwaitProofRequest{JobId: s.JobId})
	if err != nil || r.Status != pb.AwaitProofResponse_COMPLETED || len(r.Proof) != 8*192 {
		t.Fatal("the wait timed out, the job should have gone on: ", r, err)
	}
	_, err = c.svc.AwaitProof(ctx, &pb.AwaitProofRequest{JobId: "nobody", TimeoutMs: 100})
	wantCode(t, err, codes.NotFound)
}

func TestRefusals(t *testing.T) {
	c, ctx := tcp(t), limit(t, time.Minute)
	c1 := vector(t, "porep-2k-a", "c1.json")
	porep := func(change func(*pb.SubmitProofRequest)) *pb.SubmitProofRequest {
		r := &pb.SubmitProofRequest{ProofKind: pb.ProofKind_POREP_SEAL_COMMIT, SectorSize: kib2, VanillaProof: c1}
		change(r)
		return r
	}
	for name, k := range map[string]struct {
		req  *pb.SubmitProofRequest
		code codes.Code
		word string
	}{
		"kind":      {porep(func(r *pb.SubmitProofRequest) { r.ProofKind = 99 }), codes.InvalidArgument, "proof_kind"},
		"no kind":   {porep(func(r *pb.SubmitProofRequest) { r.ProofKind = 0 }), codes.InvalidArgument, "proof_kind"},
		"priority":  {porep(func(r *pb.SubmitProofRequest) { r.Priority = 77 }), codes.InvalidArgument, "priority"},
		"size":      {porep(func(r *pb.SubmitProofRequest) { r.SectorSize = 8 << 20 }), codes.InvalidArgument, "sector_size"},
		"proof":     {porep(func(r *pb.SubmitProofRequest) { r.RegisteredProof = 8 }), codes.InvalidArgument, "registered_proof"},
		"empty":     {porep(func(r *pb.SubmitProofRequest) { r.VanillaProof = nil }), codes.InvalidArgument, "vanilla_proof"},
		"truncated": {porep(func(r *pb.SubmitProofRequest) { r.VanillaProof = c1[:len(c1)/2] }), codes.InvalidArgument, ""},
		"base64": {porep(func(r *pb.SubmitProofRequest) {
			r.VanillaProof = []byte(`{"SectorNum":1,"Phase1Out":"%%%","SectorSize":2048}`)
		}), codes.InvalidArgument, "Phase1Out"},
		"envelope":    {porep(func(r *pb.SubmitProofRequest) { r.VanillaProof = envelope(c1, 1, 4096) }), codes.InvalidArgument, "SectorSize"},
		"commitment":  {porep(func(r *pb.SubmitProofRequest) { r.CommRNew = make([]byte, 31) }), codes.InvalidArgument, "comm_r_new"},
		"long id":     {porep(func(r *pb.SubmitProofRequest) { r.RequestId = strings.Repeat("x", 200) }), codes.InvalidArgument, "request_id"},
		"no request":  {nil, codes.InvalidArgument, ""},
		"toy's shape": {toy("", 1, 100000), codes.InvalidArgument, "sector_size"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := c.svc.Prove(ctx, &pb.ProveRequest{Submit: k.req})
			wantCode(t, err, k.code, k.word)
		})
	}
}

func TestPreloadAndEvict(t *testing.T) {
	c, ctx := tcp(t), limit(t, time.Minute)
	const key = "toy-12"
	first, err := c.svc.PreloadSRS(ctx, &pb.PreloadSrsRequest{CircuitId: key})
	if err != nil || first.AlreadyLoaded {
		t.Fatal(first, err)
	}
	again, err := c.svc.PreloadSRS(ctx, &pb.PreloadSrsRequest{CircuitId: key})
	if err != nil || !again.AlreadyLoaded {
		t.Fatal(again, err)
	}
	find := func() *pb.SRSStatus {
		s, err := c.svc.GetStatus(ctx, &pb.GetStatusRequest{})
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range s.LoadedSrs {
			if k.CircuitId == key && k.Tier == pb.SRSStatus_HOT {
				return k
			}
		}
		return nil
	}
	if k := find(); k == nil || k.SizeBytes == 0 || k.RefCount != 0 {
		t.Fatal("the status shows the key as ", k)
	}
	e, err := c.svc.EvictSRS(ctx, &pb.EvictSrsRequest{CircuitId: key})
	if err != nil || !e.WasLoaded || e.FreedBytes == 0 {
		t.Fatal(e, err)
	}
	if k := find(); k != nil {
		t.Fatal("evicted, and still shown: ", k)
	}
	e, err = c.svc.EvictSRS(ctx, &pb.EvictSrsRequest{CircuitId: key})
	if err != nil || e.WasLoaded {
		t.Fatal("evicting twice: ", e, err)
	}
	if _, err = c.svc.PreloadSRS(ctx, &pb.PreloadSrsRequest{CircuitId: "no-such-circuit"}); err == nil {
		t.Fatal("an unknown circuit was preloaded")
	}
	// In use.
	s, err := c.svc.SubmitProof(ctx, toy(id(t), 9, 8))
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(300 * time.Millisecond)
	if e, err = c.svc.EvictSRS(ctx, &pb.EvictSrsRequest{CircuitId: "toy-10"}); err == nil {
		t.Fatal("a key in use was evicted: ", e)
	}
	wantCode(t, err, codes.FailedPrecondition, "use")
	if r, err := c.svc.AwaitProof(ctx, &pb.AwaitProofRequest{JobId: s.JobId}); err != nil || r.Status != pb.AwaitProofResponse_COMPLETED {
		t.Fatal(r, err)
	}
}

func TestStatusFields(t *testing.T) {
	c, ctx := tcp(t), limit(t, time.Minute)
	before, err := c.svc.GetStatus(ctx, &pb.GetStatusRequest{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := c.svc.SubmitProof(ctx, toy(id(t), 10, 6))
	if err != nil {
		t.Fatal(err)
	}
	busy := false
	for range 100 {
		now, err := c.svc.GetStatus(ctx, &pb.GetStatusRequest{})
		if err != nil {
			t.Fatal(err)
		}
		if len(now.Gpus) != 1 || now.Gpus[0].Ordinal != 0 || now.Gpus[0].Name == "" || now.PinnedMemoryLimitBytes == 0 ||
			now.PinnedMemoryBytes > now.PinnedMemoryLimitBytes {
			t.Fatal(now)
		}
		busy = busy || now.Gpus[0].CurrentJobId == s.JobId
		if now.TotalProofsCompleted > before.TotalProofsCompleted {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	if !busy {
		t.Error("the device was never shown with the job")
	}
	if r, err := c.svc.AwaitProof(ctx, &pb.AwaitProofRequest{JobId: s.JobId}); err != nil || r.TotalMs < r.QueueWaitMs {
		t.Fatal(r, err)
	}
	m, err := c.svc.GetMetrics(ctx, &pb.GetMetricsRequest{})
	if err != nil || !strings.Contains(m.PrometheusText, "# TYPE cuzk_") {
		t.Fatal(m, err)
	}
}

func TestTimeline(t *testing.T) {
	c, ctx := tcp(t), limit(t, time.Minute)
	name := id(t)
	watch, err := c.svc.WatchTimeline(ctx, &pb.GetTimelineRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err = c.prove(ctx, toy(name, 11, 2)); err != nil {
		t.Fatal(err)
	}
	var seen strings.Builder
	next := uint64(0)
	for !strings.Contains(seen.String(), "JOB_DONE,"+name+",") {
		m, err := watch.Recv()
		if err == io.EOF {
			t.Fatal("the stream ended")
		}
		if err != nil {
			t.Fatal(err)
		}
		if m.NextSeq < next || !strings.HasSuffix(m.Lines, "\n") && m.Lines != "" {
			t.Fatalf("next_seq %d after %d, lines end %q", m.NextSeq, next, m.Lines[max(0, len(m.Lines)-20):])
		}
		next = m.NextSeq
		seen.WriteString(m.Lines)
	}
	for _, e := range []string{"JOB_SUBMIT", "SYNTH_START", "SYNTH_END", "GPU_START", "GPU_END", "JOB_DONE"} {
		if !strings.Contains(seen.String(), ","+e+","+name+",") {
			t.Errorf("no %s of the job", e)
		}
	}
	g, err := c.svc.GetTimeline(ctx, &pb.GetTimelineRequest{MaxBytes: 4096})
	if err != nil || len(g.Lines) > 4096 || g.NextSeq == 0 {
		t.Fatal(len(g.Lines), g.NextSeq, err)
	}
	g, err = c.svc.GetTimeline(ctx, &pb.GetTimelineRequest{SinceSeq: next})
	if err != nil || g.NextSeq < next || strings.Contains(g.Lines, "JOB_SUBMIT,"+name) {
		t.Fatal(g, err)
	}
}

func TestClientGoesAway(t *testing.T) {
	c, ctx := tcp(t), limit(t, time.Minute)
	gone := connect(t, env(t, "CUZK_ADDR"))
	name := id(t)
	short, cancel := context.WithTimeout(ctx, 400*time.Millisecond)
	defer cancel()
	_, err := gone.svc.Prove(short, &pb.ProveRequest{Submit: toy(name, 12, 30)})
	wantCode(t, err, codes.DeadlineExceeded)
	for range 100 {
		r, err := c.svc.AwaitProof(ctx, &pb.AwaitProofRequest{JobId: name, TimeoutMs: 100})
		if err != nil {
			t.Fatal(err)
		}
		if r.Status == pb.AwaitProofResponse_CANCELLED {
			return
		}
	}
	t.Fatal("nobody waits for the job, and it goes on")
}

func TestHealth(t *testing.T) {
	c := tcp(t)
	for _, name := range []string{"", "cuzk.v1.ProvingEngine"} {
		r, err := grpc_health_v1.NewHealthClient(c.conn).Check(limit(t, 5*time.Second), &grpc_health_v1.HealthCheckRequest{Service: name})
		if err != nil || r.Status != grpc_health_v1.HealthCheckResponse_SERVING {
			t.Fatal(name, r, err)
		}
	}
}

// A daemon that asks clients for a certificate: served is who has one of its authority, and nobody else.
func TestTLS(t *testing.T) {
	addr, dir := env(t, "CUZK_TLS"), env(t, "CUZK_TLS_FILES")
	trusted := x509.NewCertPool()
	pem, err := os.ReadFile(filepath.Join(dir, "server.pem"))
	if err != nil || !trusted.AppendCertsFromPEM(pem) {
		t.Fatal("the server's certificate: ", err)
	}
	for _, name := range []string{"client", "other", ""} {
		config := &tls.Config{RootCAs: trusted}
		if name != "" {
			pair, err := tls.LoadX509KeyPair(filepath.Join(dir, name+".pem"), filepath.Join(dir, name+".key"))
			if err != nil {
				t.Fatal(err)
			}
			config.Certificates = []tls.Certificate{pair}
		}
		c, err := dialWith(addr, credentials.NewTLS(config))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.conn.Close() })
		ctx := limit(t, time.Minute)
		if name == "client" {
			if _, err = c.prove(ctx, toy(id(t), 3, 2)); err != nil {
				t.Fatal(err)
			}
			continue
		}
		_, err = c.svc.GetStatus(ctx, &pb.GetStatusRequest{})
		wantCode(t, err, codes.Unavailable)
	}
	_, err = connect(t, addr).svc.GetStatus(limit(t, time.Minute), &pb.GetStatusRequest{})
	wantCode(t, err, codes.Unavailable) // without TLS
	args := []string{"-cacert", filepath.Join(dir, "server.pem"), "-cert", filepath.Join(dir, "client.pem"),
		"-key", filepath.Join(dir, "client.key"), addr, "list"}
	if out, err := exec.Command(env(t, "GRPCURL"), args...).CombinedOutput(); err != nil || !bytes.Contains(out, []byte("cuzk.v1.ProvingEngine")) {
		t.Fatalf("grpcurl: %v: %s", err, out)
	}
}

// grpcurl knows the service by reflection alone.
func TestReflection(t *testing.T) {
	curl, addr := env(t, "GRPCURL"), env(t, "CUZK_ADDR")
	run := func(args ...string) string {
		t.Helper()
		out, err := exec.Command(curl, append([]string{"-plaintext", "-max-time", "30"}, args...)...).CombinedOutput()
		if err != nil {
			t.Fatalf("grpcurl %v: %v: %s", args, err, out)
		}
		return string(out)
	}
	list := run(addr, "list")
	for _, s := range []string{"cuzk.v1.ProvingEngine", "grpc.health.v1.Health"} {
		if !strings.Contains(list, s) {
			t.Errorf("no %s in %s", s, list)
		}
	}
	desc := pb.ProvingEngine_ServiceDesc
	if methods := run(addr, "list", desc.ServiceName); strings.Count(methods, "\n") != len(desc.Methods)+len(desc.Streams) {
		t.Errorf("methods: %s", methods)
	}
	if d := run(addr, "describe", "cuzk.v1.SubmitProofRequest"); !strings.Contains(d, "bytes vanilla_proof = 10;") || !strings.Contains(d, "bytes comm_d_new = 32;") {
		t.Errorf("described as %s", d)
	}
	answer := run("-d", `{"submit":{"request_id":"`+id(t)+`","proof_kind":"TEST_TOY","sector_size":1,"vanilla_proof":"AQIDBAUGBwg="}}`, addr, "cuzk.v1.ProvingEngine/Prove")
	if !strings.Contains(answer, `"status": "COMPLETED"`) || !strings.Contains(answer, `"proof"`) {
		t.Errorf("proven: %s", answer)
	}
	if s := run(addr, "cuzk.v1.ProvingEngine/GetStatus"); !strings.Contains(s, `"gpus"`) {
		t.Errorf("status: %s", s)
	}
}
