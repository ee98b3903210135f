/**
 * Returns what a table has under a name that comes from outside; undefined where the table itself has no such name.
 * `table[name]` would also find what every object inherits, such as `constructor` and `__proto__`.
 */
export function ownValue<Value>(table: Readonly<Record<string, Value>>, name: string): Value | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined
}
