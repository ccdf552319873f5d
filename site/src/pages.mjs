import { extname, relative } from 'node:path'
import { Converter } from 'typedoc'

const HEADING = /^# (.+)\n/
const IMAGES = ['.png', '.svg']
const REPOSITORY = 'https://github.com/sluicejs/sluice/blob/main'

/** Groups of pages by the folder that they are in, the first that matches. */
const GROUPS = [
  ['docs/frameworks/', 'Frameworks'],
  ['docs/internals/', 'Internals'],
  ['docs/', 'Guides'],
  ['packages/', 'Packages'],
  ['', 'Project'],
]

/**
 * Gives each page the title of its first heading and a group, and leads links to files that are no pages to the
 * repository.
 */
export function pages(app, root) {
  app.converter.on(Converter.EVENT_RESOLVE_BEGIN, ({ project }) => {
    for (const page of project.documents ?? []) {
      const path = project.files.getReflectionPath(page)
      if (path === undefined) continue
      page.frontmatter.group = GROUPS.find(([folder]) => relative(root, path).startsWith(folder))[1]
      page.name = titleOf(page) ?? page.name
      leadLinks(page.content, project, root)
    }
    leadLinks(project.readme ?? [], project, root)
  })
}

function titleOf({ content: [first] }) {
  return first?.kind === 'text' ? HEADING.exec(first.text)?.[1].replace(/[`*]/g, '') : undefined
}

function leadLinks(parts, project, root) {
  for (const part of parts) {
    if (part.kind !== 'relative-link' || part.target === undefined) continue
    const path = project.files.resolve(part.target, project)
    if (typeof path !== 'string' || IMAGES.includes(extname(path))) continue
    part.text = `${REPOSITORY}/${relative(root, path)}`
    part.target = undefined
  }
}
