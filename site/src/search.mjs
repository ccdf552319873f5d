import { tasks } from './navigation.mjs'

const TASKS = tasks()
/** Lists, and pages for those who change Sluice. */
const UNSEARCHED = /^(?:index|guides|changelog|contributing)\.|^decisions\b/
const TABLE = /<(table|pre)[\s\S]*?<\/\1>/g
/** The first row of the site about an option with a name that is not a word. */
const OPTION = /<code id="([\w-]+)" class="first">(\w*[a-z][A-Z]\w*)<\/code>/g

/**
 * The local search of VitePress. Guides rank before READMEs, and both before the reference and the decisions. A name that
 * is not a word, such as `deadlineMs` or the code of an error, finds the place that describes it first.
 */
export const search = {
  provider: 'local',
  options: {
    _render(text, env, md) {
      if (UNSEARCHED.test(env.relativePath)) return ''
      const { highlight } = md.options
      md.options.highlight = (code) => `<pre>${md.utils.escapeHtml(code)}</pre>`
      const html = searched(md.render(text, env), env.relativePath)
      md.options.highlight = highlight
      const words = TASKS.get(env.relativePath)?.join('. ')
      // behind the heading, so that the words belong to the first section of the page
      return words === undefined ? html : html.replace('</h1>', `</h1><p>${md.utils.escapeHtml(words)}</p>`)
    },
    miniSearch: {
      // sent to the browser as text: functions may use nothing from around them
      searchOptions: {
        prefix: true,
        fuzzy(term, _index, terms) {
          // the next documents are ranked for these terms
          globalThis.searchedTerms = terms
          return term.length > 5 ? 0.2 : false
        },
        combineWith: 'AND',
        boost: { title: 4, titles: 2, text: 1 },
        boostDocument(id, _term, { title, titles }) {
          const name = title.replace('()', '')
          // the terms of SLUICE_BAD_KEY are its words
          const names = [name, name.replace(/^SLUICE_(?=.+_)/, '')].map((one) => one.toLowerCase())
          const isName = /^\w*(?:[a-z][A-Z]|_)\w*$/.test(name) && /\/(?:reference|errors)\//.test(id)
          if (isName && names.includes(globalThis.searchedTerms.join('_'))) {
            // options, types and decorators may have the name of a function
            return /^[a-z].*\(\)$/.test(title) ? 3_000 : 1_000
          }
          const [, rank] = [
            [/\/(?:internals|architecture|security|migrating)[/.]|\/errors\//, 0.1],
            [/\/reference[/.]/, 0.15],
            [/\/(?:packages|examples|benchmarks|comparison|reliability|glossary|runtimes|guides)[/.]/, 0.3],
            [/\/(?:errors|testing|faq|sketch|global)/, 0.4],
            [/./, 1],
          ].find(([pages]) => pages.test(id))
          // lists of series have the titles of the guides that explain them
          if (titles.includes('All series')) return rank * 0.4
          // the first section of a page has its title and its tasks
          return titles.length === 0 ? rank * 2.5 : rank
        },
      },
    },
  },
}

/** What the search reads of a rendered page. */
function searched(html, path) {
  // names and their meaning; tables of options would rank by their number of words
  if (path.startsWith('reference')) return html.replace(TABLE, optionHeadings)
  // each code has a page, which is found as a whole
  if (path === 'errors.md') return html.slice(0, html.indexOf('<h2'))
  if (path.startsWith('errors/')) return html.replace(/<h2[\s\S]*?<\/h2>/g, '')
  // the figures of charts are in the tables of the results
  return path === 'benchmarks.md' ? html.replace(/<table class="chart"[\s\S]*?<\/table>/g, '') : html
}

/** A heading for each option of a table, below the heading of its function or type. */
function optionHeadings(table) {
  const options = Array.from(table.matchAll(OPTION), ([, id, name]) => `<h4>${name}<a href="#${id}"></a></h4>`)
  return options.join(' ')
}
