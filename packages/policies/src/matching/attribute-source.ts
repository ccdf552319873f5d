import type { AttributeValue } from '../document/policy-document.ts'

/** Returns the value of an attribute of a request; undefined if the request does not have it. */
export type AttributeSource = (name: string) => AttributeValue | undefined

/** Prefix of attributes that are headers, as in `header:x-plan`. */
const HEADER_PREFIX = 'header:'

/** Attributes that every request has without a function of the application. */
export const BUILT_IN_ATTRIBUTES = ['address', 'method', 'route'] as const

/** Returns the method under which requests count: HEAD reaches the handlers of GET. */
export function countedMethod(method: string): string {
  return method === 'HEAD' ? 'GET' : method
}

/** Returns the name of the header that an attribute reads, in lower case; undefined for other attributes. */
export function headerOf(attribute: string): string | undefined {
  return attribute.startsWith(HEADER_PREFIX) ? attribute.slice(HEADER_PREFIX.length).toLowerCase() : undefined
}

/** Returns the name of the attribute that is a header. */
export function headerAttribute(header: string): string {
  return HEADER_PREFIX + header.toLowerCase()
}
