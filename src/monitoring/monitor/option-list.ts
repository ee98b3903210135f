import { z } from 'zod'
import type { DescribedProbe, OptionWords } from '../probe/server-probe.ts'
import type { DescribedKind } from './probe-kinds.ts'
import { describedKinds } from './probe-kinds.ts'

/** An option of a kind, for GraphQL and the console. */
export interface DescribedOption extends OptionWords {
  readonly name: string
  readonly type: 'text' | 'number' | 'flag' | 'secret'
  readonly isRequired: boolean
  /** The value of a new monitor; absent: none. */
  readonly initial?: string | number | boolean
  readonly min?: number
  readonly max?: number
  readonly maxLength?: number
}

/** The subset of JSON Schema that options use. */
interface Schema {
  readonly type?: string
  readonly default?: string | number | boolean
  readonly minimum?: number
  readonly maximum?: number
  readonly maxLength?: number
}

/** Kept, because the API and the console ask for them when they start. */
const known = new Map<DescribedKind, readonly DescribedOption[]>()

/** Returns the options of a kind, in the order of its descriptions. */
export function describedOptions(kind: DescribedKind): readonly DescribedOption[] {
  const options = known.get(kind) ?? readOptions(kind)
  known.set(kind, options)
  return options
}

function readOptions(kind: DescribedKind): DescribedOption[] {
  const { options, words, secrets = [] }: DescribedProbe = describedKinds[kind]
  const { properties = {}, required = [] } = z.toJSONSchema(options, { io: 'input', unrepresentable: 'any' })
  const all = Object.entries(words.options).map(([name, described]) => {
    const { type, default: initial, minimum: min, maximum: max, maxLength } = properties[name] as Schema
    const isSecret = secrets.some(([first]) => first === name)
    const option: DescribedOption = {
      ...{ name, ...described },
      type: isSecret ? 'secret' : typeOf(type),
      isRequired: required.includes(name),
      ...(initial !== undefined && { initial }),
      ...(min !== undefined && { min }),
      ...(max !== undefined && { max }),
      ...(maxLength !== undefined && { maxLength }),
    }
    return option
  })
  return [...all.filter(({ isRare }) => !isRare), ...all.filter(({ isRare }) => isRare)]
}

function typeOf(type: string | undefined): 'text' | 'number' | 'flag' {
  if (type === 'integer' || type === 'number') return 'number'
  return type === 'boolean' ? 'flag' : 'text'
}
