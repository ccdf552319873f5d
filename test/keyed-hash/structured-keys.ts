/**
 * Keys as servers receive them: very little entropy, all of it in a few characters. Each function returns the n-th key.
 */
export const structuredKeys: Readonly<Record<string, (n: number) => string>> = {
  'consecutive IPv4 addresses': (n) => `10.${(n >> 16) & 255}.${(n >> 8) & 255}.${n & 255}`,
  'decimal counters': (n) => `user-${String(n).padStart(9, '0')}`,
  'consecutive IPv6 /64s': (n) => `2001:db8:${(n >>> 16).toString(16)}:${(n & 0xffff).toString(16)}::/64`,
  'one character differs': (n) => `tenant/${'x'.repeat(n >> 13)}${String.fromCharCode(n & 0x1fff)}/key`,
}
