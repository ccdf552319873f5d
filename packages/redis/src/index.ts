export { hashSlot } from './hash-slot.ts'
