/** Replaces `${NAME}`, `${NAME:-default}` and `${NAME:?message}` as Compose does, from the inside out. */
export function interpolate(text: string, values: Readonly<Record<string, string>>): string {
  const replaced = text.replace(/\$\{(\w+)(?::([-?])([^${}]*))?\}/g, (_, name: string, kind: string, rest: string) => {
    const value = values[name]
    if (value === undefined && kind !== '-') throw new Error(`${name}: ${rest}`)
    return value ?? rest
  })
  return replaced === text ? text : interpolate(replaced, values)
}
