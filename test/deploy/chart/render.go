// Renders the templates of a Helm chart with the engine and the functions that Helm uses: Go's text/template and Sprig.
// Reads {"folder", "values", "release"} as JSON from standard input and writes {"NAME": "TEXT"}, or exits with 1 and the
// template's error.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/template"

	"github.com/Masterminds/sprig"
	"gopkg.in/yaml.v3"
)

type asked struct {
	Folder  string
	Values  map[string]interface{}
	Release map[string]interface{}
}

func main() {
	rendered, err := render()
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(rendered)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func render() (map[string]string, error) {
	var input asked
	if err := json.NewDecoder(os.Stdin).Decode(&input); err != nil {
		return nil, err
	}
	chart := map[string]interface{}{}
	text, err := os.ReadFile(filepath.Join(input.Folder, "Chart.yaml"))
	if err != nil {
		return nil, err
	}
	var read map[string]interface{}
	if err := yaml.Unmarshal(text, &read); err != nil {
		return nil, err
	}
	// Helm capitalizes the names of a chart's members.
	for name, value := range read {
		chart[strings.ToUpper(name[:1])+name[1:]] = value
	}
	all := template.New("chart").Option("missingkey=zero")
	all.Funcs(sprig.TxtFuncMap()).Funcs(functions(all))
	files, err := filepath.Glob(filepath.Join(input.Folder, "templates", "*"))
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		if _, err := all.New(filepath.Base(file)).Parse(string(text)); err != nil {
			return nil, err
		}
	}
	given := map[string]interface{}{"Values": input.Values, "Release": input.Release, "Chart": chart}
	rendered := map[string]string{}
	for _, file := range files {
		name := filepath.Base(file)
		if strings.HasPrefix(name, "_") {
			continue
		}
		var out strings.Builder
		if err := all.ExecuteTemplate(&out, name, given); err != nil {
			return nil, err
		}
		rendered[name] = strings.ReplaceAll(out.String(), "<no value>", "")
	}
	return rendered, nil
}

// The functions that Helm adds to Sprig.
func functions(all *template.Template) template.FuncMap {
	return template.FuncMap{
		"include": func(name string, data interface{}) (string, error) {
			var out strings.Builder
			err := all.ExecuteTemplate(&out, name, data)
			return out.String(), err
		},
		"required": func(message string, value interface{}) (interface{}, error) {
			if value == nil || value == "" {
				return nil, errors.New(message)
			}
			return value, nil
		},
		"toYaml": func(value interface{}) string {
			text, err := yaml.Marshal(value)
			if err != nil {
				return ""
			}
			return strings.TrimSuffix(string(text), "\n")
		},
	}
}
