package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"github.com/dgraph-io/badger/v4"
	"github.com/dop251/goja"
)

// isolatedVerb makes a process of this binary one that runs the scripts of the isolated floor.
const isolatedVerb = "isolated-floor"

// isolatedMessage is what the isolated floor and its processes tell each other, as a line of JSON.
type isolatedMessage struct {
	Source string         `json:"source,omitempty"` // run this
	Params map[string]any `json:"params,omitempty"`
	Call   any            `json:"call,omitempty"` // give this back
	Get    string         `json:"get,omitempty"`  // read this
	Value  any            `json:"value,omitempty"`
	Fail   string         `json:"fail,omitempty"`
	Done   bool           `json:"done,omitempty"`
}

// isolatedMain runs scripts with goja until the input ends. Every function that a script calls is a question to the server.
func isolatedMain(in io.Reader, out io.Writer) int {
	runtime.GOMAXPROCS(1)
	from, to := json.NewDecoder(bufio.NewReader(in)), json.NewEncoder(out)
	programs := map[string]*goja.Program{}
	ask := func(m isolatedMessage) (any, error) {
		if err := to.Encode(m); err != nil {
			return nil, err
		}
		var answer isolatedMessage
		if err := from.Decode(&answer); err != nil {
			return nil, err
		}
		if answer.Fail != "" {
			return nil, errors.New(answer.Fail)
		}
		return answer.Value, nil
	}
	for {
		var m isolatedMessage
		if from.Decode(&m) != nil {
			return 0
		}
		p := programs[m.Source]
		if p == nil {
			p = goja.MustCompile("floor", m.Source, true)
			programs[m.Source] = p
		}
		vm := goja.New()
		_ = vm.Set("params", m.Params)
		_ = vm.Set("call", func(in any, params map[string]any) (any, error) {
			return ask(isolatedMessage{Call: in, Params: params})
		})
		_ = vm.Set("get", func(id string) (any, error) { return ask(isolatedMessage{Get: id}) })
		v, err := vm.RunProgram(p)
		done := isolatedMessage{Done: true}
		if err != nil {
			done.Fail = err.Error()
		} else {
			done.Value = v.Export()
		}
		if to.Encode(done) != nil {
			return 1
		}
	}
}

// isolated is a process that runs scripts of the floor.
type isolated struct {
	from *json.Decoder
	to   *json.Encoder
}

// startIsolated starts as many processes as catena has workers for one user.
func startIsolated(b *testing.B) chan *isolated {
	const workers = 2
	all := make(chan *isolated, workers)
	for range workers {
		cmd := exec.CommandContext(b.Context(), os.Args[0], isolatedVerb)
		in, err := cmd.StdinPipe()
		if err != nil {
			b.Fatal(err)
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			b.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { _ = in.Close(); _ = cmd.Wait() })
		all <- &isolated{json.NewDecoder(bufio.NewReader(out)), json.NewEncoder(in)}
	}
	return all
}

// isolatedScripts answers as scripts does, but the scripts run in processes of their own, as they must where their time and
// memory are to be bounded.
func (f *floor) isolatedScripts(b *testing.B, ids []string) http.Handler {
	list, _ := json.Marshal(ids)
	workers, mux := startIsolated(b), http.NewServeMux()
	for _, w := range scripted {
		source := "(function (params) { " + strings.ReplaceAll(w.floor, "IDS", string(list)) + "; return 1 })(params)"
		mux.HandleFunc("POST /"+w.name, func(rw http.ResponseWriter, r *http.Request) {
			var body struct {
				Params map[string]any `json:"params"`
			}
			if json.NewDecoder(r.Body).Decode(&body) != nil {
				rw.WriteHeader(http.StatusBadRequest)
				return
			}
			p := <-workers
			v, err := f.isolatedScript(p, source, body.Params)
			workers <- p
			if err != nil {
				rw.WriteHeader(http.StatusInternalServerError)
				return
			}
			floorAnswer(rw, map[string]any{"entity-type": "number", "value": v})
		})
	}
	return mux
}

func (f *floor) isolatedScript(p *isolated, source string, params map[string]any) (v any, err error) {
	err = f.db.View(func(tx *badger.Txn) error {
		if err := p.to.Encode(isolatedMessage{Source: source, Params: params}); err != nil {
			return err
		}
		for {
			var m isolatedMessage
			if err := p.from.Decode(&m); err != nil {
				return err
			}
			answer := isolatedMessage{Value: m.Call}
			switch {
			case m.Done && m.Fail != "":
				return errors.New(m.Fail)
			case m.Done:
				v = m.Value
				return nil
			case m.Get != "":
				item, err := tx.Get([]byte("d" + m.Get))
				if err != nil {
					return err
				}
				if err := item.Value(func(raw []byte) error { return json.Unmarshal(raw, &answer.Value) }); err != nil {
					return err
				}
			}
			if err := p.to.Encode(answer); err != nil {
				return err
			}
		}
	})
	return v, err
}
