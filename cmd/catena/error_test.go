package main

import (
	"net"
	"path/filepath"
	"strings"
	"testing"
)

// TestErrorsAsJSON: --json has errors printed as one line of JSON on standard error.
func TestErrorsAsJSON(t *testing.T) {
	data := filepath.Join(t.TempDir(), "d")
	if code, _, errs := line(t, "init", "--data", data); code != 0 {
		t.Fatal(errs)
	}
	for args, want := range map[string]string{
		"run Document.Fetch --param value=/nowhere": `{"error":{"kind":"notfound","message":"Document.Fetch: /nowhere","exitCode":3}}`,
		"run Nothing":                   `{"error":{"kind":"notfound","code":"unknown_operation",`,
		"run":                           `{"error":{"kind":"usage","message":"wrong number of arguments: 0; usage: catena run OPERATION [flags]","exitCode":2}}`,
		"run --nothing":                 `{"error":{"kind":"usage","message":"unknown flag: --nothing","exitCode":2}}`,
		"serve --rate no":               `{"error":{"kind":"usage","message":"invalid argument \"no\" for \"--rate\" flag: must be an integer","exitCode":2}}`,
		"user list --server 127.0.0.1":  `{"error":{"kind":"usage","message":"server: \"127.0.0.1\" is not an address such as http://127.0.0.1:8080","exitCode":2}}`,
		"user password Administrator":   `{"error":{"kind":"usage","message":"password: must not be empty","exitCode":2}}`,
		"verify --server http://a:8080": `{"error":{"kind":"usage","message":"works on a data directory that no server uses: stop the server and omit --server","exitCode":2}}`,
	} {
		_, out, errs := line(t, append(strings.Fields(args), "--data", data, "--json")...)
		if out != "" || !strings.HasPrefix(errs, want) || strings.Count(errs, "\n") != 1 {
			t.Errorf("%s: %s%s, want %s", args, out, errs, want)
		}
	}
}

// TestServerAdvice: commands for a server say what to do when it does not run, and which credentials are missing.
func TestServerAdvice(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody := "http://" + l.Addr().String()
	_ = l.Close()
	code, _, errs := line(t, "ops", "--server", nobody)
	if want := "is the server running? Start it with catena serve, or correct --server\n"; code != 1 || !strings.HasPrefix(errs, "catena: "+nobody+": dial tcp") || !strings.HasSuffix(errs, want) {
		t.Errorf("%d %s", code, errs)
	}
	p := startServer(t, t.TempDir())
	for _, c := range []struct{ name, value, want string }{
		{"CATENA_USER", "Administrator", ": sign-in failed, set CATENA_PASSWORD (and CATENA_USER for a user other than Administrator) or CATENA_KEY: "},
		{"CATENA_PASSWORD", "wrong", ": sign-in failed, check CATENA_USER (default: Administrator) and CATENA_PASSWORD: "},
		{"CATENA_KEY", "wrong", ": sign-in failed, check CATENA_KEY: "},
	} {
		t.Setenv(c.name, c.value)
		if code, _, errs := line(t, "ops", "--server", p.base); code != 3 || !strings.HasPrefix(errs, "catena: "+p.base+c.want) {
			t.Errorf("%s: %d %s", c.name, code, errs)
		}
	}
}

// TestHelp lists every command under a purpose.
func TestHelp(t *testing.T) {
	code, out, errs := line(t, "--help")
	if code != 0 || strings.Contains(out, "Additional Commands:") {
		t.Errorf("%d %s%s", code, out, errs)
	}
	last := -1
	for _, want := range []string{"Run a server:", "  serve ", "Run operations:", "  run ", "Program the server:", "  chain ", "Manage users:", "  group ", "Watch a server:", "  runs ", "Maintain data:", "  backup ", "Other commands:", "  completion ", "Flags:", "--server"} {
		at := strings.Index(out, "\n"+want)
		if strings.HasPrefix(want, "--") {
			at = strings.Index(out, want)
		}
		if at <= last {
			t.Errorf("%s: missing, or not in order, in %s", want, out)
		}
		last = at
	}
}

// TestFlagErrors: an unknown flag is told with the one that was probably meant.
func TestFlagErrors(t *testing.T) {
	for args, want := range map[string]string{
		"serve --limit-jsn 1": "unknown flag: --limit-jsn, perhaps --limit-json\n",
		"run --limit-json 1":  "unknown flag: --limit-json: catena run does not have this setting of catena serve\n",
		"run --params-x 1":    "unknown flag: --params-x, perhaps --params\n",
		"run -x":              "unknown shorthand flag: 'x' in -x\n",
	} {
		if code, _, errs := line(t, strings.Fields(args)...); code != 2 || errs != "catena: "+want {
			t.Errorf("%s: %d %s, want %s", args, code, errs, want)
		}
	}
}
