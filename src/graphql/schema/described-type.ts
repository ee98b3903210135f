import type { InputRef, InputType } from '@pothos/core'
import type { z } from 'zod'
import type { Member, Shape } from '../../core/described.ts'
import { inputDescription, membersOf, shapeOf, typeNameOf } from '../../core/described.ts'
import type { SchemaTypes } from './builder.ts'
import { builder } from './builder.ts'
import { describedValues } from './descriptions.ts'
import { IDEMPOTENCY_KEY } from './idempotent-mutation.ts'

/** Values by the names of members. The schema of the domain validates them. */
export type Described = Readonly<Record<string, unknown>> & { readonly idempotencyKey?: string | null }

type Types = PothosSchemaTypes.ExtendDefaultTypes<SchemaTypes>
type AnyType = InputType<Types>

type Choice = Extract<Shape, { readonly kind: 'choice' }>

/** The types with a name, by it. Types of the same name are the same. */
const inputs = new Map<string, InputRef<Described>>()
const choices = new Map<string, AnyType>()

type InputFields = Parameters<Parameters<typeof builder.inputType>[1]['fields']>[0]

interface InputOptions {
  /** Whether it also has an idempotency key. */
  readonly isCreation?: boolean
  /** Returns members whose types the schema does not have. */
  more?(t: InputFields): Readonly<Record<string, PothosSchemaTypes.InputFieldRef<Types, unknown>>>
}

/**
 * Returns the input type with the members of an object's schema, which has a name.
 * @throws Error for a member that has no words or cannot be described.
 */
export function describedInput(schema: z.ZodType, options: InputOptions = {}): InputRef<Described> {
  const { name, about = '' } = typeNameOf(schema)
  return inputOf(`${name}Input`, about, membersOf(schema), options)
}

/** Returns the enum of a choice's schema, which has a name. */
export const describedEnum = (schema: z.ZodType) => simpleTypeOf(shapeOf(schema) as Choice)

function inputOf(
  name: string,
  about: string,
  members: readonly Member[],
  options: InputOptions = {},
): InputRef<Described> {
  const known = inputs.get(name)
  if (known !== undefined) return known
  const made = builder.inputType(name, {
    description: about,
    fields: (t) => ({
      ...Object.fromEntries(members.map((member) => [member.name, t.field(fieldOf(member))])),
      ...options.more?.(t),
      ...(options.isCreation && { idempotencyKey: t.string(IDEMPOTENCY_KEY) }),
    }),
  }) as InputRef<Described>
  inputs.set(name, made)
  return made
}

function fieldOf(member: Member) {
  const { words, shape, isRequired } = member
  return {
    type: inputTypeOf(shape),
    // A secret that is not given is kept.
    required: isRequired && words.secret === undefined,
    description: inputDescription(member),
    ...(words.assumed !== undefined && { defaultValue: words.assumed }),
  }
}

function inputTypeOf(shape: Shape): AnyType | [AnyType] {
  if (shape.kind === 'list') return [inputTypeOf(shape.of) as AnyType]
  if (shape.kind !== 'object') return simpleTypeOf(shape)
  const { name, about = '' } = nameOf(shape)
  return inputOf(`${name}Input`, about, shape.members)
}

/** Returns the scalar or the enum of a shape, the same for inputs and outputs. */
export function simpleTypeOf(shape: Exclude<Shape, { readonly kind: 'object' | 'list' }>): AnyType {
  if (shape.kind === 'choice') return choiceOf(shape)
  if (shape.type !== null) return shape.type.name as AnyType
  if (shape.kind === 'number') return shape.isWhole ? 'Int' : 'Float'
  return ({ text: 'String', flag: 'Boolean', date: 'DateTime', value: 'JsonValue' } as const)[shape.kind]
}

const scalars = new Set(['ID', 'String', 'Int'])

/** A choice without a name is an enum of the database, whose type a room has made. */
function choiceOf({ type, values, entries }: Choice): AnyType {
  if (type === null || type.of !== undefined) return (type?.of ?? entries) as AnyType
  if (scalars.has(type.name)) return type.name as AnyType
  const { name, about, values: descriptions = {} } = type
  const described = describedValues(
    Object.fromEntries(values.map((value) => [value, descriptions[value] ?? `${value}.`])),
  )
  const made = choices.get(name) ?? builder.enumType(name, { description: about, values: described })
  choices.set(name, made as AnyType)
  return made as AnyType
}

/** Returns the name of an object's type. @throws Error when it has none. */
export function nameOf({ type }: Shape): NonNullable<Shape['type']> {
  if (type === null) throw new Error('An object needs a name: wrap its schema in named()')
  return type
}
