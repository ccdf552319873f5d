import { textOf } from './repository.mjs'

const FRAMEWORKS = [
  ['Express', 'express'],
  ['Koa', 'koa'],
  ['Fastify', 'fastify'],
  ['NestJS', 'nest'],
  ['Hono', 'hono'],
  ['fetch', 'fetch'],
]
const BLOCK = /^```ts.*\n([\s\S]*?)^```$/m

/** Figures of "Why Sluice" in the README, with the words below them. */
const FIGURES = [
  [/at most (50 ms)/, 'longest wait for Redis'],
  [/grows by (63 MiB)/, 'with five million attacking keys'],
  [/takes (1\.1 µs)/, 'for a leased decision of a hot key'],
  [/lost or doubled (none) of the units/, 'of the billed units lost or doubled'],
  [/has (9 of the 10) left/, 'after a denial by another policy'],
]

/** The home page, from the README and the first block of each framework's guide. `linked`: leads links of the README. */
export function homePage(linked) {
  const readme = textOf('README.md')
  const [, sentence] = /<\/picture>\n\n(.+)\n/.exec(readme) ?? []
  const [, dark, light, alt] = /srcset="(.+?)"[\s\S]*?src="(.+?)" alt="(.+?)"/.exec(readme) ?? []
  if (sentence === undefined || alt === undefined) throw new Error('README.md: no picture and sentence at its begin')
  return `---
layout: home
title: Sluice
titleTemplate: Rate limits for Node.js
hero:
  name: Sluice
  tagline: ${JSON.stringify(sentence.replaceAll('`', ''))}
  actions:
    - { theme: brand, text: All guides by task, link: ./guides.html }
    - { theme: alt, text: Production checklist, link: ./production.html }
    - { theme: alt, text: Reference, link: ./reference.html }
---

<div class="home">

## Your first limit

${codeGroup()}

The 101st request of a client within a minute receives a 429 with \`Retry-After\`, \`RateLimit\` and a problem document. Guides: ${guides()}.

## Measured

<div class="figures">

${FIGURES.map((figure) => figureOf(figure, readme, linked)).join('\n')}

</div>

## See it live

Any Sluice application can serve [this page](./insight.html): current traffic, denied keys, the policies closest to their limit, and the reason why a key was limited.

<img class="on-light" src="/${light.slice('docs/'.length)}" alt="${alt}">
<img class="on-dark" src="/${dark.slice('docs/'.length)}" alt="${alt}">

</div>
`
}

function codeGroup() {
  const tabs = FRAMEWORKS.map(([label, name]) => {
    const [, code] = BLOCK.exec(textOf(`docs/frameworks/${name}.md`)) ?? []
    if (code === undefined) throw new Error(`docs/frameworks/${name}.md: no block of TypeScript`)
    return `\`\`\`ts [${label}]\n${code.split('\n\n').slice(0, 2).join('\n\n').trimEnd()}\n\`\`\``
  })
  return `::: code-group\n\n${tabs.join('\n\n')}\n\n:::`
}

function guides() {
  return FRAMEWORKS.map(([label, name]) => `[${label}](./frameworks/${name}.html)`).join(', ')
}

/** A figure with the sentence of the README around it, and the link behind it. */
function figureOf([pattern, words], readme, linked) {
  const item = readme.split('\n').find((line) => /^\d\. \*\*/.test(line) && pattern.test(line))
  if (item === undefined) throw new Error(`README.md: no figure ${pattern} in "Why Sluice"`)
  const [, figure] = pattern.exec(item)
  const [, claim, text] = /^\d\. \*\*(.+?)\*\* (.+)$/.exec(item)
  const link =
    text.slice(text.search(pattern)).match(/\[[^\]]*\]\([^)]+\)/)?.[0] ?? text.match(/\[[^\]]*\]\([^)]+\)/)[0]
  return `- <b>${figure}</b> ${words}. <span>${claim}</span> ${linked(link.replace(/\[.*?\]/, '[How it was measured]'))}`
}
