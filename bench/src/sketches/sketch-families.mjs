import { article } from './article/sketch-article.mjs'
import { blooms } from './sketch-blooms.mjs'
import { counters } from './sketch-counters.mjs'
import { quantiles } from './sketch-quantiles.mjs'
import { tops } from './sketch-tops.mjs'
import { uniques } from './sketch-uniques.mjs'

export const families = { counters, article, uniques, quantiles, tops, blooms }
