/** Style sheet of HTML reports. Light or dark as the browser asks for. */
export const HTML_STYLE = `
:root { color-scheme: light dark; --text: #1b1f24; --muted: #59636e; --back: #fff; --panel: #f5f7f9; --line: #d5dbe1;
  --bar: #9db4cf; --bad: #c62f21; --good: #19703a; }
@media (prefers-color-scheme: dark) {
  :root { --text: #e8ebee; --muted: #a3adb8; --back: #14171a; --panel: #1d2125; --line: #353b42; --bar: #4a6a90;
    --bad: #ff7a6b; --good: #56c17d; }
}
body { margin: 0 auto; padding: 1.5rem; max-width: 80rem; background: var(--back); color: var(--text);
  font: 1rem/1.5 system-ui, sans-serif; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.2rem; margin-top: 2.5rem; } h3 { font-size: 1rem; }
p { max-width: 46rem; } .muted { color: var(--muted); } .bad { color: var(--bad); }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(11rem, 1fr)); gap: 0.75rem; padding: 0; }
.tiles div { background: var(--panel); border: 1px solid var(--line); border-radius: 0.5rem; padding: 0.75rem 1rem; }
.tiles dt { color: var(--muted); } .tiles dd { margin: 0; font-size: 1.4rem; font-variant-numeric: tabular-nums; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { text-align: right; padding: 0.3rem 0.6rem; border-bottom: 1px solid var(--line); white-space: nowrap; }
th { color: var(--muted); font-weight: 600; }
th:first-child, td:first-child { text-align: left; white-space: normal; min-width: 9rem; overflow-wrap: anywhere; }
.legend { margin: 0.25rem 0 0; color: var(--muted); font-size: 0.9rem; }
.legend span { margin-right: 1rem; } .legend span::before { content: '\\25A0\\00A0'; color: var(--bar); }
.legend .of-denied::before { color: var(--bad); }
@media (max-width: 40rem) {
  thead { display: none; } table, tbody, tr { display: block; }
  tr { border: 1px solid var(--line); border-radius: 0.5rem; margin-bottom: 0.75rem; padding: 0.25rem 0; }
  td, td:first-child { display: flex; justify-content: space-between; gap: 1rem; border: 0; text-align: right;
    white-space: normal; overflow-wrap: anywhere; }
  td::before { content: attr(data-name); color: var(--muted); text-align: left; white-space: nowrap; }
}
svg { width: 100%; height: auto; background: var(--panel); border: 1px solid var(--line); border-radius: 0.5rem; }
svg text { fill: var(--muted); font: 11px system-ui, sans-serif; } svg .name { fill: var(--text); }
svg .below { dominant-baseline: hanging; }
@media (max-width: 40rem) { svg text { font-size: 22px; } }
svg .tick, svg .end { text-anchor: end; } svg .grid { stroke: var(--line); }
svg .bar { fill: var(--bar); } svg .part { fill: var(--bad); }
svg .curve { fill: none; stroke: var(--bar); stroke-width: 2; }
svg .level { stroke: var(--bad); stroke-dasharray: 4 3; } svg .level-1 { stroke: var(--good); }
`
