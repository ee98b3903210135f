import { z } from 'zod'

/** What people read about a member of an input: in the API's schema, in forms, and in the schema of a file. */
export interface Words {
  /** A sentence. The default of the schema is added, unless the sentence names one with “Default: ”. */
  readonly description: string
  /** The label in a form. A member of an object needs one if the object has a form. */
  readonly label?: string
  /** An explanation below the label. */
  readonly hint?: string
  /** Whether a form collapses it. */
  readonly isRare?: boolean
  /** The title of the collapsed section of a form that has it; absent: "More options", if it is rare. */
  readonly section?: string
  /** How a form asks for it, if not as usual for its schema. */
  readonly field?: 'url' | 'prose' | 'lines' | 'words' | 'headers' | 'expectations'
  /** What the API's schema shows as the default, if the domain's schema has none. */
  readonly assumed?: boolean
  /** The choice of none in a form, for an optional choice. */
  readonly none?: string
  /** Marks a secret. Says what must stay the same for the stored one to be kept, such as "the host". */
  readonly secret?: string
}

/** A type with a name of its own: an object, a choice or a scalar. */
export interface TypeName {
  readonly name: string
  /** The enum of the database whose values a choice has, or some of them. */
  readonly of?: object
  readonly about?: string
  /** The description of each value of a choice. */
  readonly values?: Readonly<Record<string, string>>
  /** The text of each value in a form, if it is not the value itself. */
  readonly texts?: Readonly<Record<string, string>>
}

const words = z.registry<Words>()
const names = z.registry<TypeName>()

/** Returns a copy of a schema with words. They replace those that it has. */
export function described<T extends z.ZodType>(type: T, given: Words): T {
  const own = type.clone()
  words.add(own as z.ZodType, given)
  return own
}

/** Returns a copy of a schema with a name. */
export function named<T extends z.ZodType>(type: T, given: TypeName): T {
  const own = type.clone()
  names.add(own as z.ZodType, given)
  return own
}

/** The schema of an id. */
export const idText = named(z.string(), { name: 'ID' })

/** Returns the schema of a described id. */
export const idOf = (description: string) => described(idText, { description })

/** Returns the schema of a described time. */
export const timeOf = (description: string) => described(z.date(), { description })

/** Returns the name of a schema's type. @throws Error when it has none. */
export function typeNameOf(type: z.ZodType): TypeName {
  const found = names.get(type)
  if (found === undefined) throw new Error('An object needs a name: wrap its schema in named()')
  return found
}

/** The kind of values that a schema takes. */
export type Shape = { readonly type: TypeName | null } & (
  | { readonly kind: 'text'; readonly minLength?: number; readonly maxLength?: number }
  | { readonly kind: 'number'; readonly isWhole: boolean; readonly min?: number; readonly max?: number }
  | { readonly kind: 'flag' | 'date' }
  /** A text, a number, true or false. */
  | { readonly kind: 'value'; readonly maxLength?: number }
  | { readonly kind: 'choice'; readonly values: readonly (string | number)[]; readonly entries: object }
  | { readonly kind: 'list'; readonly of: Shape; readonly maxLength?: number }
  | { readonly kind: 'object'; readonly members: readonly Member[] }
)

/** A member of an input. */
export interface Member {
  readonly name: string
  readonly words: Words
  readonly shape: Shape
  readonly isRequired: boolean
  /** The default; absent: none. */
  readonly initial?: unknown
}

const known = new WeakMap<z.ZodType, readonly Member[]>()

/**
 * Returns the members of an object's schema, in its order.
 * @throws Error that names the member that has no words, or whose schema is of a kind that has no shape here.
 */
export function membersOf(type: z.ZodType): readonly Member[] {
  const members = known.get(type) ?? readMembers(type)
  known.set(type, members)
  return members
}

/** Leaves out members that must not be given, and those that are validated elsewhere. */
function readMembers(type: z.ZodType): Member[] {
  const given = Object.entries(objectIn(type).shape).filter(([, own]) => {
    const { inner } = unwrap(own)
    return !(inner instanceof z.ZodNull || inner instanceof z.ZodUnknown)
  })
  const place = names.get(type)?.name
  return given.map(([name, own]) => memberOf(place === undefined ? name : `${place}.${name}`, name, own))
}

function objectIn(type: z.ZodType): z.ZodObject {
  if (type instanceof z.ZodObject) return type
  throw new Error(`Only the members of objects can be described, not those of ${type.type}`)
}

function memberOf(place: string, name: string, type: z.ZodType): Member {
  const { inner, initial, isOptional } = unwrap(type)
  const given = wordsOf(type)
  if (given === undefined) throw new Error(`${place} has no words: wrap its schema in described()`)
  const shape = inPlace(place, () => shapeOf(inner))
  return { name, words: given, shape, isRequired: !isOptional, ...(initial !== undefined && { initial }) }
}

/** Calls a function. An error that it throws gets the name of a member. */
function inPlace<T>(name: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw new Error(`${name}: ${(error as Error).message}`)
  }
}

/** Returns the words of a schema, or of the schema that it wraps. */
export function wordsOf(type: z.core.$ZodType): Words | undefined {
  const own = words.get(type)
  const next = wrapped(type)
  return own ?? (next && wordsOf(next))
}

interface Unwrapped {
  readonly inner: z.ZodType
  readonly isOptional: boolean
  readonly initial?: unknown
}

function unwrap(type: z.ZodType): Unwrapped {
  const next = wrapped(type)
  if (next === undefined) return { inner: type, isOptional: false }
  const { inner, isOptional, initial } = unwrap(next)
  if (type instanceof z.ZodDefault) return { inner, isOptional: true, initial: type.def.defaultValue }
  const isOptionalHere = type instanceof z.ZodOptional || type instanceof z.ZodNullable
  return { inner, isOptional: isOptional || isOptionalHere, initial }
}

/** Returns the schema inside a wrapper. A transformed value is described as it is given. */
function wrapped(type: z.core.$ZodType): z.ZodType | undefined {
  if (type instanceof z.ZodOptional || type instanceof z.ZodNullable || type instanceof z.ZodDefault)
    return type.def.innerType as z.ZodType
  return type instanceof z.ZodPipe ? (type.def.in as z.ZodType) : undefined
}

/** Returns what a schema takes. @throws Error when it is of a kind that has no shape here. */
export function shapeOf(given: z.ZodType): Shape {
  const { inner } = unwrap(given)
  const type = names.get(inner) ?? null
  if (inner instanceof z.ZodString)
    return { type, kind: 'text', ...leastOf(inner.minLength), ...lengthOf(inner.maxLength) }
  if (inner instanceof z.ZodNumber) return { type, ...numberShape(inner) }
  if (inner instanceof z.ZodBoolean) return { type, kind: 'flag' }
  if (inner instanceof z.ZodDate) return { type, kind: 'date' }
  if (inner instanceof z.ZodEnum) return { type, kind: 'choice', values: inner.options, entries: inner.def.entries }
  if (inner instanceof z.ZodUnion) return { type, ...unionShape(inner.options as z.ZodType[]) }
  if (inner instanceof z.ZodObject) return { type, kind: 'object', members: membersOf(inner) }
  if (!(inner instanceof z.ZodArray)) throw new Error(`${inner.type} has no shape`)
  const { maxItems } = z.toJSONSchema(inner, { io: 'input', unrepresentable: 'any' })
  return { type, kind: 'list', of: shapeOf(inner.element as z.ZodType), ...lengthOf(maxItems ?? null) }
}

const leastOf = (minLength: number | null) => (minLength === null ? {} : { minLength })
const lengthOf = (maxLength: number | null) => (maxLength === null ? {} : { maxLength })

function numberShape(type: z.ZodNumber) {
  const { minValue: min, maxValue: max, isInt: isWhole } = type
  const isLimit = (value: number | null): value is number => value !== null && Number.isFinite(value)
  return {
    ...({ kind: 'number', isWhole } as const),
    ...(isLimit(min) && min > Number.MIN_SAFE_INTEGER && { min }),
    ...(isLimit(max) && max < Number.MAX_SAFE_INTEGER && { max }),
  }
}

function unionShape(options: readonly z.ZodType[]) {
  if (options.every((each) => each instanceof z.ZodLiteral)) {
    const values = options.flatMap((each) => [...each.values]) as (string | number)[]
    return { kind: 'choice', values, entries: values } as const
  }
  const text = options.find((each) => each instanceof z.ZodString)
  const isText = options.every((each) => each instanceof z.ZodString || each instanceof z.ZodLiteral)
  if (isText) return { kind: 'text', ...lengthOf(text?.maxLength ?? null) } as const
  return { kind: 'value', ...lengthOf(text?.maxLength ?? null) } as const
}

/** Returns the description of a member of an input, with its default. */
export function inputDescription({ words: { description, secret }, initial }: Member): string {
  if (secret !== undefined)
    return `${description} A secret. Null keeps the current one. If ${secret} changes, send it again.`
  const shown = [initial ?? []].flat().join(', ')
  return shown === '' || description.includes('Default: ') ? description : `${description} Default: ${shown}.`
}

/** Returns the paths of the secrets in an object. `*` stands for the items of a list. */
export function secretPathsIn(members: readonly Member[]): (readonly string[])[] {
  return members.flatMap(({ name, words: { secret }, shape }) => {
    if (secret !== undefined) return [[name]]
    const isList = shape.kind === 'list'
    const inner = isList ? shape.of : shape
    const place = isList ? [name, '*'] : [name]
    return inner.kind === 'object' ? secretPathsIn(inner.members).map((path) => [...place, ...path]) : []
  })
}
