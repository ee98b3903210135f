import type { PagedFile } from './paged-file.ts'

/** A decoded value, and the offset of the next one. */
interface Decoded {
  readonly value: unknown
  readonly end: number
}

/** The file to decode, and the start of its data. */
interface Source {
  readonly file: PagedFile
  /** The offset to which pointers are relative. */
  readonly base: number
}

/** Numbers of types in the format. */
const POINTER = 1
const EXTENDED = 0
/** The maximum nesting depth. Pointers of a damaged file may form a cycle. */
const MAX_DEPTH = 64
/** The value added to pointers of each length. */
const POINTER_OFFSETS = [0, 2048, 526_336, 0] as const

/**
 * Decodes the value at an offset (MaxMind DB file format 2.0).
 * @param base the offset to which pointers are relative.
 * @throws if the file is damaged.
 */
export function decodeValue(file: PagedFile, offset: number, base: number): Decoded {
  return decode({ file, base }, offset, 0)
}

function decode(source: Source, offset: number, depth: number): Decoded {
  if (depth > MAX_DEPTH) throw new Error(`Values are nested too deeply at ${offset}.`)
  const { file } = source
  const control = file.byteAt(offset)
  const short = control >>> 5
  if (short === POINTER) {
    const { target, end } = pointerAt(source, offset)
    return { value: decode(source, target, depth + 1).value, end }
  }
  const type = short === EXTENDED ? file.byteAt(offset + 1) + 7 : short
  if (short === EXTENDED && type < 8) throw new Error(`The type ${type} at ${offset} is not allowed in extended form.`)
  const { size, start } = sizeAt(file, control, short === EXTENDED ? offset + 2 : offset + 1)
  if (type === 7) return mapAt(source, start, size, depth)
  if (type === 11) return arrayAt(source, start, size, depth)
  if (type === 14) return { value: size !== 0, end: start }
  return { value: scalarAt(file, type, start, size), end: start + size }
}

function pointerAt({ file, base }: Source, offset: number): { readonly target: number; readonly end: number } {
  const control = file.byteAt(offset)
  const length = ((control >>> 3) & 3) + 1
  // The longest form does not use the bits of the control byte.
  const high = length === 4 ? 0 : (control & 7) * 2 ** (8 * length)
  const target = base + high + file.numberAt(offset + 1, length) + (POINTER_OFFSETS[length - 1] ?? 0)
  return { target, end: offset + 1 + length }
}

function sizeAt(file: PagedFile, control: number, offset: number): { readonly size: number; readonly start: number } {
  const size = control & 0x1f
  if (size < 29) return { size, start: offset }
  const length = size - 28
  const least = [29, 285, 65_821][length - 1] ?? 0
  return { size: least + file.numberAt(offset, length), start: offset + length }
}

function mapAt(source: Source, start: number, size: number, depth: number): Decoded {
  const entries: [string, unknown][] = []
  let at = start
  for (let count = 0; count < size; count++) {
    const key = decode(source, at, depth + 1)
    const { value, end } = decode(source, key.end, depth + 1)
    entries.push([String(key.value), value])
    at = end
  }
  return { value: Object.fromEntries(entries), end: at }
}

function arrayAt(source: Source, start: number, size: number, depth: number): Decoded {
  const values: unknown[] = []
  let at = start
  for (let count = 0; count < size; count++) {
    const { value, end } = decode(source, at, depth + 1)
    values.push(value)
    at = end
  }
  return { value: values, end: at }
}

function scalarAt(file: PagedFile, type: number, offset: number, size: number): unknown {
  switch (type) {
    case 2:
      return file.textAt(offset, size)
    case 3:
      return file.bytesAt(offset, 8).readDoubleBE()
    case 4:
      return file.bytesAt(offset, size)
    case 5:
    case 6:
      return file.numberAt(offset, size)
    case 8:
      return size === 4 ? file.bytesAt(offset, 4).readInt32BE() : file.numberAt(offset, size)
    case 9:
    case 10:
      return size === 0 ? 0n : BigInt(`0x${file.bytesAt(offset, size).toString('hex')}`)
    case 15:
      return file.bytesAt(offset, 4).readFloatBE()
    default:
      throw new Error(`Unknown type ${type} at ${offset}.`)
  }
}
