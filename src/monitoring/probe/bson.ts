/** A value that `writeDocument` supports: JSON or bytes. */
export type BsonValue = string | number | boolean | null | Buffer | readonly BsonValue[] | BsonDocument

/** A document that `writeDocument` supports. */
export interface BsonDocument {
  readonly [name: string]: BsonValue
}

/** Encodes a document (BSON 1.1). Integers of up to 32 bits become int32, other numbers double. */
export function writeDocument(document: BsonDocument): Buffer {
  const elements = Object.entries(document).map(([name, value]) => writeElement(name, value))
  const length = Buffer.alloc(4)
  const body = Buffer.concat([...elements, Buffer.alloc(1)])
  length.writeInt32LE(length.length + body.length)
  return Buffer.concat([length, body])
}

function writeElement(name: string, value: BsonValue): Buffer {
  const element = (type: number, ...parts: Buffer[]) =>
    Buffer.concat([Buffer.from([type]), Buffer.from(`${name.replaceAll('\0', '')}\0`), ...parts])
  if (typeof value === 'string') {
    const text = Buffer.from(`${value}\0`)
    return element(0x02, int32(text.length), text)
  }
  if (typeof value === 'boolean') return element(0x08, Buffer.from([Number(value)]))
  if (typeof value === 'number')
    return Number.isInteger(value) && value === (value | 0) ? element(0x10, int32(value)) : element(0x01, double(value))
  if (value === null) return element(0x0a)
  if (Buffer.isBuffer(value)) return element(0x05, int32(value.length), Buffer.alloc(1), value)
  return isList(value)
    ? element(0x04, writeDocument(Object.fromEntries(value.entries())))
    : element(0x03, writeDocument(value))
}

// `Array.isArray` does not narrow read-only lists.
const isList = (value: readonly BsonValue[] | BsonDocument): value is readonly BsonValue[] => Array.isArray(value)

function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeInt32LE(value)
  return bytes
}

function double(value: number): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeDoubleLE(value)
  return bytes
}

/** The end of a document. */
const END = 0

type ReadValue = number | boolean | string | Buffer

/** Decodes the members of a document that are numbers, booleans, texts or bytes; null: the document is invalid. */
export function readDocument(document: Buffer): ReadonlyMap<string, ReadValue> | null {
  const members = new Map<string, ReadValue>()
  try {
    if (document.readInt32LE(0) !== document.length) return null
    let at = 4
    for (let type = document.readUInt8(at); type !== END; type = document.readUInt8(at)) {
      const end = document.indexOf(0, at + 1)
      if (end === -1) return null
      const value = end + 1
      const size = sizeOf(document, type, value)
      if (size === null) return null
      const read = readValue(document, type, value, size)
      if (read !== null) members.set(document.toString('utf8', at + 1, end), read)
      at = value + size
    }
    return members
  } catch (error) {
    // The document ends inside an element.
    if (error instanceof RangeError) return null
    throw error
  }
}

function readValue(document: Buffer, type: number, at: number, size: number): ReadValue | null {
  if (type === 0x01) return document.readDoubleLE(at)
  if (type === 0x02) return document.toString('utf8', at + 4, at + size - 1)
  if (type === 0x05) return document.subarray(at + 5, at + size)
  if (type === 0x08) return document.readUInt8(at) === 1
  return type === 0x10 ? document.readInt32LE(at) : null
}

/** The sizes in bytes of types with a fixed size: numbers, dates, ids, booleans and null. */
const sizes: ReadonlyMap<number, number> = new Map([
  ...([0x01, 0x09, 0x11, 0x12] as const).map((type) => [type, 8] as const),
  [0x07, 12],
  [0x08, 1],
  [0x0a, 0],
  [0x10, 4],
  [0x13, 16],
])

/** Returns the size of a value in bytes; null: the type is unknown or the value is truncated. */
function sizeOf(document: Buffer, type: number, at: number): number | null {
  const size = sizes.get(type)
  if (size !== undefined) return size
  const length = document.readInt32LE(at)
  // The length of a text or of bytes excludes the length field; that of a document or list includes it.
  const counted = new Map([
    [0x02, 4 + length],
    [0x03, length],
    [0x04, length],
    [0x05, 5 + length],
  ]).get(type)
  return counted === undefined || counted < 5 || counted > document.length - at ? null : counted
}
