import { ownValue } from '../../core/own-value.ts'
import { invalid } from '../../core/validation.ts'

/** The options of an argument that `input` has replaced. */
export const DEPRECATED_ARGUMENT = { required: false, deprecationReason: 'Use `input`.' } as const

/** An `input`, or the deprecated arguments that it has replaced. */
type InputOrArguments<Input extends object> = { readonly input?: Input | null | undefined } & {
  readonly [Name in keyof Input]?: Input[Name] | null | undefined
}

/**
 * Returns the input of a mutation, given as `input` or as deprecated arguments.
 * @throws Invalid when both are given, or a required field is missing.
 */
export function inputOf<Input extends object>(
  { input, ...deprecated }: InputOrArguments<Input>,
  required: readonly (keyof Input & string)[],
): Input {
  const given = Object.values(deprecated).some((value) => value !== undefined && value !== null)
  if (input && given) throw invalid([{ path: ['input'], message: 'cannot be combined with the deprecated arguments' }])
  if (input) return input
  const values: Record<string, unknown> = deprecated
  const missing = required.filter((name) => (ownValue(values, name) ?? null) === null)
  if (missing.length === 0) return deprecated as Input
  throw invalid(missing.map((name) => ({ path: given ? [name] : ['input', name], message: 'is required' })))
}
