package main

import (
	"cmp"
	"encoding/json"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"catena/storage/postgres/pgtest"
)

const deliveredAt = "../../"

// defaulted are the variables of a file for docker compose.
var defaulted = regexp.MustCompile(`\$\{\w+:-([^}]*)\}`)

// composed reads the environment that compose.yaml gives the nodes by default.
func composed(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile(deliveredAt + "compose.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Services map[string]struct {
			Environment map[string]string
		}
	}
	if err := yaml.Unmarshal(defaulted.ReplaceAll(text, []byte("$1")), &file); err != nil {
		t.Fatal(err)
	}
	if one, two := file.Services["node1"].Environment, file.Services["node2"].Environment; len(one) < 5 || !maps.Equal(one, two) {
		t.Fatalf("the nodes have %v and %v", one, two)
	}
	return file.Services["node1"].Environment
}

// kubernetes is what the manifests of Kubernetes give the program.
func kubernetes(t *testing.T) map[string]string {
	t.Helper()
	file, err := os.Open(deliveredAt + "deploy/kubernetes/catena.yaml")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	env := map[string]string{}
	for all := yaml.NewDecoder(file); ; {
		var one struct {
			Kind string
			Data map[string]string
			Spec struct {
				Template struct {
					Spec struct {
						ServiceLinks *bool `yaml:"enableServiceLinks"`
						Containers   []struct {
							Env []struct{ Name, Value string }
						}
					}
				}
			}
		}
		if err := all.Decode(&one); err != nil {
			break // the end
		}
		maps.Copy(env, one.Data)
		pod := one.Spec.Template.Spec
		if len(pod.Containers) > 0 && (pod.ServiceLinks == nil || *pod.ServiceLinks) { // a service named catena gives every pod these, among others
			maps.Copy(env, map[string]string{"CATENA_SERVICE_HOST": "10.96.0.7", "CATENA_PORT": "tcp://10.96.0.7:80"})
		}
		for _, c := range pod.Containers {
			for _, v := range c.Env {
				env[v.Name] = cmp.Or(v.Value, "from a secret")
			}
		}
	}
	if len(env) < 6 {
		t.Fatalf("only %v", env)
	}
	return env
}

// set gives the program an environment.
func set(t *testing.T, env map[string]string) {
	t.Helper()
	for name, v := range env {
		t.Setenv(name, v)
	}
}

// TestDeliveredSettings has the program accept the settings of every file that it is delivered with.
func TestDeliveredSettings(t *testing.T) {
	lines := func(name, pattern string) map[string]string {
		text, err := os.ReadFile(deliveredAt + name)
		if err != nil {
			t.Fatal(err)
		}
		env := map[string]string{}
		for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(string(text), -1) {
			env[m[1]] = m[2]
		}
		if len(env) == 0 {
			t.Fatalf("%s has no settings", name)
		}
		return env
	}
	inCluster := kubernetes(t)
	inCluster["CATENA_STORE"] = "postgres://catena@db/catena?sslmode=verify-full"
	unit := lines("deploy/catena.service", `(?m)^Environment=(CATENA_\w+)=(.*)$`)
	unit["CATENA_CONFIG"] = deliveredAt + "deploy/deb/catena.yaml"
	for name, env := range map[string]map[string]string{
		"compose.yaml":       composed(t),
		"kubernetes":         inCluster,
		"image":              lines("deploy/Dockerfile", `(CATENA_\w+)=(\S+)`),
		"unit and deb":       unit,
		"an unknown setting": {"CATENA_COLOUR": ":8080"},
		"a wrong value":      {"CATENA_TRUSTED_PROXIES": "everybody"},
	} {
		t.Run(name, func(t *testing.T) {
			env = maps.Clone(env)
			env["CATENA_DATA"] = t.TempDir()
			set(t, env)
			code, out, errs := line(t, "config", "check")
			if want := strings.HasPrefix(name, "a"); (code != 0) != want {
				t.Errorf("%d: %s%s", code, out, errs)
			}
		})
	}
}

// TestComposed starts two servers with the environment that docker compose gives them; only places are others.
func TestComposed(t *testing.T) {
	env := composed(t)
	env["CATENA_STORE"], env["CATENA_BLOBS"] = pgtest.Database(t), t.TempDir()
	delete(env, "CATENA_ADDR")
	set(t, env)
	for name := range env {
		if !strings.HasPrefix(name, "CATENA_") && !strings.HasPrefix(name, "AWS_") {
			t.Errorf("%s is for nobody", name)
		}
	}
	a, b := startServer(t, t.TempDir()), startServer(t, t.TempDir())
	a.want(t, 201, "Administrator", "POST", spaces, `{"entity-type":"document","type":"Folder","name":"f"}`)
	var found struct{ Path string }
	if err := json.Unmarshal([]byte(b.want(t, 200, "Administrator", "GET", spaces+"/f", "")), &found); err != nil || found.Path != "/default-domain/workspaces/f" {
		t.Errorf("%+v, %v", found, err)
	}
}

// TestInCluster starts a server with the environment that Kubernetes gives it: it answers by the names that the service has for other
// pods, and not by others.
func TestInCluster(t *testing.T) {
	env := kubernetes(t)
	env["POD_NAMESPACE"] = "shop"
	for name, v := range env {
		env[name] = regexp.MustCompile(`\$\((\w+)\)`).ReplaceAllStringFunc(v, func(v string) string { return env[v[2:len(v)-1]] })
	}
	for _, name := range []string{"CATENA_STORE", "CATENA_BLOBS", "CATENA_ADDR", "CATENA_METRICS_ADDR", "CATENA_BASE_URL"} { // these places are others
		delete(env, name)
	}
	set(t, env)
	p := startServer(t, t.TempDir())
	for host, want := range map[string]int{
		"catena": 200, "catena.shop": 200, "catena.shop.svc": 200, "catena.shop.svc.cluster.local:80": 200,
		"10.244.0.7:8080": 200, // probes
		"evil.example":    421,
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, p.base+"/readyz", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		r.Host = host
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode != want {
			t.Errorf("host %q: %s", host, answer.Status)
		}
	}
}

// TestDeliveredFiles has every file that others name be there.
func TestDeliveredFiles(t *testing.T) {
	text, err := os.ReadFile(deliveredAt + "compose.yaml")
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile(`(?m)dockerfile: (\S+)|^ *- \./(\S+?):`).FindAllStringSubmatch(string(text), -1)
	for _, m := range named {
		if _, err := os.Stat(filepath.Join(deliveredAt, m[1]+m[2])); err != nil {
			t.Error(err)
		}
	}
	build, err := os.ReadFile(deliveredAt + "deploy/Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	targets := regexp.MustCompile(`(?m)^FROM \S+ AS (\w+)$`).FindAllStringSubmatch(string(build), -1)
	var names []string
	for _, m := range targets {
		names = append(names, m[1])
	}
	if target := regexp.MustCompile(`target: \$\{\w+:-(\w+)\}`).FindStringSubmatch(string(text)); len(named) != 2 || target == nil || !slices.Contains(names, target[1]) {
		t.Errorf("files %v, target %v of %v", named, target, names)
	}
}
