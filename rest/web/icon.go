package web

import "html/template"

// icons are the paths of our pictures for buttons, drawn in a square of 24 with a pen of 2.
var icons = map[string]string{
	"add":      "M12 5v14M5 12h14",
	"back":     "M15 5l-7 7 7 7",
	"copy":     "M9 9h11v11H9zM5 15H4V4h11v1",
	"design":   "M12 3a9 9 0 1 0 0 18c1.5 0 2-1 1.5-2-.6-1.3.3-2.5 1.7-2.5H18a3 3 0 0 0 3-3C21 7 17 3 12 3zM7.5 12h.01M9.5 7.5h.01M14.5 7.5h.01",
	"download": "M12 4v11M7 11l5 5 5-5M5 20h14",
	"edit":     "M4 20h4L19 9l-4-4L4 16zM13 7l4 4",
	"eye":      "M2 12s4-7 10-7 10 7 10 7-4 7-10 7S2 12 2 12zM12 9a3 3 0 1 0 0 6 3 3 0 0 0 0-6z",
	"full":     "M4 9V4h5M20 9V4h-5M4 15v5h5M20 15v5h-5",
	"grid":     "M4 4h7v7H4zM13 4h7v7h-7zM4 13h7v7H4zM13 13h7v7h-7z",
	"image":    "M4 5h16v14H4zM4 16l5-5 4 4 3-3 4 4M15 9h.01",
	"import":   "M12 16V5M7 9l5-5 5 5M5 20h14",
	"next":     "M9 5l7 7-7 7",
	"play":     "M7 4.5v15l12-7.5z",
	"print":    "M7 9V4h10v5M7 17H4v-7h16v7h-3M7 14h10v6H7z",
	"redo":     "M15 5l5 5-5 5M20 10H9a5 5 0 0 0 0 10h3",
	"search":   "M10.5 4a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13zM15.5 15.5L21 21",
	"share":    "M9 12h6M10 8H8a4 4 0 0 0 0 8h2M14 8h2a4 4 0 0 1 0 8h-2",
	"trash":    "M4 7h16M9 7V4h6v3M6 7l1 13h10l1-13M10 11v5M14 11v5",
	"undo":     "M9 5l-5 5 5 5M4 10h11a5 5 0 0 1 0 10h-3",
	"up":       "M12 19V5M6 11l6-6 6 6",
	"down":     "M12 5v14M6 13l6 6 6-6",
}

// icon draws a picture that screen readers pass over.
func icon(name string) template.HTML {
	return template.HTML(`<svg class="icon" viewBox="0 0 24 24" aria-hidden="true"><path d="` + icons[name] + `"/></svg>`) //nolint:gosec // our own constants
}
