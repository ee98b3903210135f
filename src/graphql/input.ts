import { invalid } from '../validate.ts'

/** Says of an argument that the mutation takes it as a member of `input` now. */
export const REPLACED = { required: false, deprecationReason: 'Use `input`.' } as const

/** An `input`, and the arguments that callers gave instead of it before every mutation took a single one. */
type InputOrArguments<Input extends object> = { readonly input?: Input | null | undefined } & {
  readonly [Name in keyof Input]?: Input[Name] | null | undefined
}

/**
 * The input of a mutation, however it was given.
 * @throws Invalid when `input` and its deprecated arguments are both given, or when neither has all that is required.
 */
export function inputOf<Input extends object>(
  { input, ...bare }: InputOrArguments<Input>,
  required: readonly (keyof Input & string)[],
): Input {
  const given = Object.values(bare).some((value) => value !== undefined && value !== null)
  if (input && given) throw invalid([{ path: ['input'], message: 'cannot be combined with the deprecated arguments' }])
  if (input) return input
  const values: Record<string, unknown> = bare
  const missing = required.filter((name) => values[name] === undefined || values[name] === null)
  if (missing.length === 0) return bare as Input
  throw invalid(missing.map((name) => ({ path: given ? [name] : ['input', name], message: 'is required' })))
}
