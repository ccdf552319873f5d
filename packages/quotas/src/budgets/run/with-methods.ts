/**
 * Returns an object that behaves like `target`, except for some methods. Other methods run on `target` itself, whose
 * private fields a proxy does not have.
 */
export function withMethods<T extends object>(target: T, methods: object): T {
  return new Proxy(target, {
    get(own, name) {
      if (Object.hasOwn(methods, name)) return Reflect.get(methods, name)
      const value: unknown = Reflect.get(own, name, own)
      return typeof value === 'function' && name !== 'constructor' ? value.bind(own) : value
    },
    set: (own, name, value) => Reflect.set(own, name, value, own),
  })
}
