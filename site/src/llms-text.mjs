import { sections } from './navigation.mjs'
import { textOf } from './repository.mjs'

/** A list of the guides with the first sentence of each, for language models. `pages`: their texts by path. */
export function llmsText(pages) {
  const [, sentence] = /<\/picture>\n\n(.+)\n/.exec(textOf('README.md'))
  const lists = sections().map(
    ({ title, pages: entries }) => `## ${title}\n\n${entries.map((entry) => lineOf(entry, pages)).join('\n')}`,
  )
  return `# Sluice\n\n> ${sentence}\n\n${lists.join('\n\n')}\n`
}

function lineOf({ title, page }, pages) {
  const [, paragraph = ''] = /^# .+\n+((?![|`#<-]).+)/m.exec(pages.get(page)) ?? []
  const [first] = paragraph.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').split(/(?<=[.:])\s/)
  return `- [${title}](${page.replace(/\.md$/, '.html')}): ${first}`
}
