package render

// basics is what a browser and the framework's own style sheets say about elements.
// Only what this renderer understands is said; it is the weakest of all sheets.
const basics = `
address,article,aside,blockquote,caption,center,dd,details,div,dl,dt,fieldset,figcaption,figure,footer,form,h1,h2,h3,h4,h5,h6,
header,hgroup,hr,li,main,nav,ol,p,pre,section,summary,ul,html,body,iframe,video { display: block; }
head,link,meta,script,style,template,title,datalist,noscript,audio,source,track,col,colgroup { display: none; }
table { display: table; border-collapse: separate; }
thead,tbody,tfoot { display: table-row-group; }
tr { display: table-row; }
td,th { display: table-cell; padding: 1px; }
th { font-weight: bold; text-align: center; }
caption { text-align: center; }
h1 { font-size: 2em; } h2 { font-size: 1.5em; } h3 { font-size: 1.17em; }
h1,h2,h3,h4,h5,h6,b,strong,dt { font-weight: bold; }
i,em,cite,dfn,var,address { font-style: italic; }
u,ins { text-decoration: underline; }
s,strike,del { text-decoration: line-through; }
code,kbd,samp,pre,tt { font-family: monospace; }
pre { white-space: pre; }
small { font-size: smaller; } big { font-size: larger; }
sub { vertical-align: sub; font-size: smaller; }
sup { vertical-align: super; font-size: smaller; }
center { text-align: center; }
a { color: #1463ba; text-decoration: underline; }
mark { background: #ffff00; color: #000; }
ul { list-style: disc; } ol { list-style: decimal; }
ul,ol { padding-left: 40px; }
li { text-align: left; }
img,svg,button,canvas,math { display: inline-block; }
hr { border-top: 1px solid #888; margin: 0.5em 0; }
aside.notes { display: none; }
.slides { text-align: center; }
.slides section { position: relative; }
.r-hstack { display: flex; flex-direction: row; align-items: center; justify-content: center; }
.r-vstack { display: flex; flex-direction: column; align-items: center; justify-content: center; }
.sl-block iframe,.sl-block video { width: 100%; height: 100%; }
`
