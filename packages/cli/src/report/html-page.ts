import { HTML_STYLE } from './html-style.ts'

/** Returns one HTML page without scripts and without other files. `style` follows the style sheet of all pages. */
export function htmlPage(title: string, body: string, style = ''): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${title}</title>
<style>${HTML_STYLE}${style}</style>
</head>
<body>
<h1>${title}</h1>
${body}
</body>
</html>
`
}
