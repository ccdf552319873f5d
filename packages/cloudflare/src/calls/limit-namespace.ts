/** The part of a `DurableObjectNamespace` binding that `durableObjectBackend` uses. */
export interface LimitNamespace {
  idFromName(name: string): object
  get(id: object, options?: { readonly locationHint?: string }): LimitStub
}

/** The part of a `DurableObjectStub` that `durableObjectBackend` uses. */
export interface LimitStub {
  fetch(
    url: string,
    init: { readonly method: string; readonly body: string },
  ): Promise<{ readonly status: number; text(): Promise<string> }>
}
