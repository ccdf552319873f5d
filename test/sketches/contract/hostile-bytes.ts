interface Hostile {
  readonly what: string
  readonly bytes: Uint8Array
}

/** Invalid variants of the bytes of a valid sketch with the header of `SketchBuffer`. */
export function hostileBytes(honest: Uint8Array): Hostile[] {
  const changed = (what: string, change: (view: DataView) => void): Hostile => {
    const bytes = honest.slice()
    change(new DataView(bytes.buffer))
    return { what, bytes }
  }
  const lengths = [0, 1, 4, 15, 16, 63, 64, honest.length - 1].filter((length) => length < honest.length)
  return [
    ...lengths.map((length) => ({ what: `cut to ${length} bytes`, bytes: honest.slice(0, length) })),
    { what: 'an extra byte', bytes: new Uint8Array([...honest, 0]) },
    { what: 'twice', bytes: new Uint8Array([...honest, ...honest]) },
    changed('another magic', (view) => view.setUint32(0, 0x4b534c54, true)),
    changed('the magic of another byte order', (view) => view.setUint32(0, 0x4b534c53, false)),
    changed('another kind', (view) => view.setUint8(4, 200)),
    changed('another version', (view) => view.setUint8(5, 9)),
    ...[16, 20, 24, 28].map((at) => changed(`a huge shape at ${at}`, (view) => view.setUint32(at, 0xffff_ffff, true))),
    { what: 'no bytes', bytes: 'sketch' as unknown as Uint8Array },
    { what: 'nothing', bytes: undefined as unknown as Uint8Array },
  ]
}
