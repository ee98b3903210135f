import { Invalid } from '../../core/errors.ts'
import { invalid } from '../../core/validation.ts'

/**
 * Adapts work whose input has exactly one of several members, `keys`, beside its others. The schema has them in a member
 * of their own, `name`, whose type is `@oneOf`. Paths of issues become those of the schema's input.
 * @throws what `work` throws.
 */
export function withChoice<Ctx, T>(
  name: string,
  keys: readonly string[],
  work: (ctx: Ctx, input: unknown) => Promise<T>,
): (ctx: Ctx, input: unknown) => Promise<T> {
  return async (ctx, input) => {
    // The schema has validated it.
    const { [name]: choice, ...others } = input as Readonly<Record<string, unknown>>
    try {
      return await work(ctx, { ...others, ...(choice as object | null | undefined) })
    } catch (error) {
      throw error instanceof Invalid ? withPaths(error, name, keys) : error
    }
  }
}

/** Returns an error whose issues of the members in `keys` have the path of the member `name` that has them. */
function withPaths(error: Invalid, name: string, keys: readonly string[]): Invalid {
  const isOfChoice = ([first]: readonly string[]) => first !== undefined && keys.includes(first)
  if (error.code !== 'INVALID_INPUT' || !error.issues.some(({ path }) => isOfChoice(path))) return error
  return invalid(
    error.issues.map((issue) => (isOfChoice(issue.path) ? { ...issue, path: [name, ...issue.path] } : issue)),
  )
}
