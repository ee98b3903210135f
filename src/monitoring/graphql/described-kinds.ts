import { text } from '../../graphql/document/cost.ts'
import type { DescribedOption } from '../monitor/option-list.ts'
import { describedOptions } from '../monitor/option-list.ts'
import type { DescribedKind } from '../monitor/probe-kinds.ts'
import { describedKinds } from '../monitor/probe-kinds.ts'
import { builder } from './builder.ts'

type Stored = Readonly<Record<string, string | number | boolean | undefined>>

const capitalized = (name: string) => name.charAt(0).toUpperCase() + name.slice(1)
const typeName = (kind: DescribedKind) => `${capitalized(kind.toLowerCase())}Options`
const scalars = { text: 'String', secret: 'String', number: 'Int', flag: 'Boolean' } as const

function makeInput(kind: DescribedKind) {
  return builder.inputType(`${typeName(kind)}Input`, {
    description: describedKinds[kind].words.about,
    fields: (t) =>
      Object.fromEntries(
        describedOptions(kind).map((option) => [
          option.name,
          t.field({ type: scalars[option.type], required: option.isRequired, description: inputDescription(option) }),
        ]),
      ),
  })
}

function inputDescription({ type, description, initial }: DescribedOption): string {
  if (type === 'secret')
    return `${description} A secret. Null keeps the current one. If the host, port or TLS changes, send it again.`
  return initial === undefined || description.includes('Default: ')
    ? description
    : `${description} Default: ${initial}.`
}

function makeOutput(kind: DescribedKind) {
  return builder.objectRef<Stored>(typeName(kind)).implement({
    description: describedKinds[kind].words.about,
    fields: (t) =>
      Object.fromEntries(
        describedOptions(kind).map((option) => {
          const { name, type, description, maxLength = 0 } = option
          if (type === 'secret') {
            const has = `has${capitalized(name)}`
            const meaning = `Whether it is set: ${lowerFirst(description)} It is a secret and never returned.`
            return [has, t.boolean({ description: meaning, resolve: (stored) => stored[has] === true })]
          }
          const shown = {
            type: scalars[type],
            ...(maxLength > 500 && { extensions: text(maxLength) }),
            description: description.replace(/ Default: .*$/, ''),
          }
          // An option with a default is always stored.
          const field =
            option.isRequired || option.initial !== undefined
              ? t.field({ ...shown, resolve: (stored) => stored[name] ?? '' })
              : t.field({ ...shown, nullable: true, resolve: (stored) => stored[name] ?? null })
          return [name, field]
        }),
      ),
  })
}

const lowerFirst = (sentence: string) => sentence.charAt(0).toLowerCase() + sentence.slice(1)

const kinds = Object.keys(describedKinds) as DescribedKind[]

/** The input types of the kinds with described options. */
export const describedInputs = new Map(kinds.map((kind) => [kind, makeInput(kind)]))

/** The object types of the kinds with described options. */
export const describedTypes = Object.fromEntries(kinds.map((kind) => [kind, makeOutput(kind)])) as Readonly<
  Record<DescribedKind, ReturnType<typeof makeOutput>>
>
