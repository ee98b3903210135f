import { ownValue } from '../../core/own-value.ts'
import { invalid } from '../../core/validation.ts'

/** An `input`, or its members as arguments. */
type InputOrArguments<Input extends object> = { readonly input?: Input | null | undefined } & {
  readonly [Name in keyof Input]?: Input[Name] | null | undefined
}

/**
 * Returns the input of a mutation whose members may also be given as arguments, as the contract with scripts names them.
 * @throws Invalid when both are given, or a required member is missing.
 */
export function inputOf<Input extends object>(
  { input, ...members }: InputOrArguments<Input>,
  required: readonly (keyof Input & string)[],
): Input {
  const given = Object.values(members).some((value) => value !== undefined && value !== null)
  if (input && given) throw invalid([{ path: ['input'], message: 'cannot be combined with other arguments' }])
  if (input) return input
  const values: Record<string, unknown> = members
  const missing = required.filter((name) => (ownValue(values, name) ?? null) === null)
  if (missing.length === 0) return members as Input
  throw invalid(missing.map((name) => ({ path: given ? [name] : ['input', name], message: 'is required' })))
}
