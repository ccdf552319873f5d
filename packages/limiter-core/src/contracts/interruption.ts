/** State change of a connection: `lost` if counts may be lost, `back` if the backend can be called again. */
export type Interruption = 'lost' | 'back'
