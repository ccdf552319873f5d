/** Response of a route. */
export interface ServiceResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export const NO_CONTENT: ServiceResponse = { status: 204, headers: {}, body: '' }

export function jsonResponse(value: object): ServiceResponse {
  return { status: 200, headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(value) }
}
