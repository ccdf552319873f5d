export {
  type LearnedCost,
  type LearnedReserve,
  type LearnedReserveOptions,
  learnedReserve,
} from './learned/learned-reserve.ts'
export type { ReserveStats } from './learned/reserve-class.ts'
export { type Prices, type PriceTable, type PriceTableOptions, priceTable, type Usage } from './prices/price-table.ts'
