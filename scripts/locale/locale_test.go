package locale

import (
	"flag"
	"strings"
	"testing"

	"github.com/dop251/goja"
)

var update = flag.Bool("update", false, "have node write the golden file")

func runtime(t testing.TB) *goja.Runtime {
	t.Helper()
	vm := goja.New()
	function := func(name string, f func(goja.FunctionCall) goja.Value) *goja.Object {
		return vm.ToValue(f).(*goja.Object)
	}
	if err := vm.Set("Intl", Intl(vm, function)); err != nil {
		t.Fatal(err)
	}
	return vm
}

// TestRefused holds that what is not supported is an error, not another result.
func TestRefused(t *testing.T) {
	vm := runtime(t)
	for source, want := range map[string]string{
		`new Intl.NumberFormat("de", {notation: "compact"})`:                                "RangeError: NumberFormat: notation: the value compact is not supported",
		`new Intl.NumberFormat("de", {style: "unit", unit: "meter"})`:                       "RangeError: NumberFormat: style: the value unit is not supported",
		`new Intl.NumberFormat("de", {style: "currency"})`:                                  "TypeError: NumberFormat: the currency is missing",
		`new Intl.NumberFormat("de", {style: "currency", currency: "EURO"})`:                "RangeError: NumberFormat: currency: EURO",
		`new Intl.NumberFormat("de", {maximumFractionDigits: 101})`:                         "RangeError: NumberFormat: maximumFractionDigits must be from 0 to 100",
		`new Intl.NumberFormat("de", {minimumFractionDigits: 3, maximumFractionDigits: 1})`: "RangeError: NumberFormat: maximumFractionDigits is less than minimumFractionDigits",
		`new Intl.NumberFormat("not a locale")`:                                             "RangeError: Incorrect locale information provided: not a locale",
		`new Intl.DateTimeFormat("de", {timeZoneName: "short"})`:                            "RangeError: DateTimeFormat: the option timeZoneName is not supported",
		`new Intl.DateTimeFormat("de", {timeZone: "Mars/Olympus"})`:                         "RangeError: Invalid time zone specified: Mars/Olympus",
		`new Intl.DateTimeFormat("de", {timeZone: "../../etc/passwd"})`:                     "RangeError: Invalid time zone specified: ../../etc/passwd",
		`new Intl.DateTimeFormat("de", {hour: "numeric", weekday: "long"})`:                 "RangeError: DateTimeFormat: these fields are not supported together: weekday:long,hour:numeric",
		`new Intl.DateTimeFormat("de", {dateStyle: "full", year: "numeric"})`:               "TypeError: DateTimeFormat: dateStyle and timeStyle cannot be used with other fields",
		`new Intl.DateTimeFormat("de", {timeStyle: "short", hour12: true})`:                 "RangeError: DateTimeFormat: hour12: true is not supported in this locale",
		`new Intl.DateTimeFormat("de").format(NaN)`:                                         "RangeError: DateTimeFormat: an invalid date",
		`new Intl.RelativeTimeFormat("de").format(1, "decade")`:                             "RangeError: RelativeTimeFormat: unknown unit decade",
		`new Intl.RelativeTimeFormat("de", {style: "narrow"})`:                              "RangeError: RelativeTimeFormat: style: the value narrow is not supported",
		`new Date(0).toLocaleDateString("de", {timeStyle: "short"})`:                        "TypeError: DateTimeFormat: this style is not one of what is shown",
		`"a".localeCompare("b", "de", {caseFirst: "upper"})`:                                "RangeError: Collator: caseFirst: the value upper is not supported",
	} {
		_, err := vm.RunString(source)
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %s", source, err, want)
		}
	}
}

// TestFind holds which data a tag has.
func TestFind(t *testing.T) {
	for tag, want := range map[string]string{
		"de": "de", "de-DE": "de", "de-AT": "de-AT", "de-u-co-phonebk": "de", "no": "nb", "nb-NO": "nb", "nn-NO": "nb", "pt-BR": "pt", "ja": "", "": "",
		"sr-Latn-RS": "sr", "en-AU": "en",
	} {
		if got := find(tag); got != want {
			t.Errorf("%s: %q, want %q", tag, got, want)
		}
	}
}
