import type { z } from 'zod'
import type { Member } from '../../../core/described.ts'
import { membersOf } from '../../../core/described.ts'
import type { FormState } from '../../../http/page/form.tsx'
import { InputField } from '../../../http/page/form.tsx'
import { currentValue } from './edit-fields.tsx'

/** Returns the texts of an input that forms ask for: the members of its schema with a label. */
const textsOf = (schema: z.ZodType): readonly Member[] =>
  membersOf(schema).filter(({ words, shape }) => words.label !== undefined && shape.kind === 'text')

/** Returns the names of the texts of an input that forms ask for. */
export const textNames = (schema: z.ZodType): readonly string[] => textsOf(schema).map(({ name }) => name)

/** Returns the texts of an input in a form; undefined: the form has no such field. */
export const readTexts = (schema: z.ZodType, fields: URLSearchParams): Readonly<Record<string, string | undefined>> =>
  Object.fromEntries(textNames(schema).map((name) => [name, fields.get(name) ?? undefined]))

interface Props {
  readonly schema: z.ZodType
  readonly state: FormState
  /** The stored object; absent: a new one. */
  readonly stored?: Readonly<Record<string, unknown>> & { readonly version: number }
}

/** Renders the fields of the texts of an input, of which the first gets the focus in a form for a new object. */
export function DescribedTexts({ schema, state, stored }: Props) {
  return (
    <>
      {textsOf(schema).map(({ name, words: { label = '', hint }, shape }, index) => {
        const { minLength = 0, maxLength } = shape.kind === 'text' ? shape : {}
        const value = String(stored?.[name] ?? '')
        return (
          <InputField
            {...{ label, name, state, value, autocomplete: 'off' }}
            {...(minLength > 0 && { required: true })}
            {...(maxLength !== undefined && { maxlength: maxLength })}
            {...(stored === undefined && index === 0 && { autofocus: true })}
            hint={stored === undefined ? hint : currentValue(state, stored.version, { name, value, hint })}
          />
        )
      })}
    </>
  )
}
