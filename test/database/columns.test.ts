import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { columnOf } from '../../src/database/columns.ts'

test('the column of each field is that of the schema', () => {
  const schema = readFileSync(new URL('../../prisma/schema.prisma', import.meta.url), 'utf8')
  const models = [...schema.matchAll(/^model (\w+) \{\n(.*?)^\}/gms)]
  const fields = models.flatMap(([, table = '', body = '']) =>
    [...body.matchAll(/^ {2}(\w+) (.*)$/gm)].map(([, field = '', rest = '']) => {
      const [, mapped = field] = /@map\("(\w+)"\)/.exec(rest) ?? []
      return { table, field, column: mapped }
    }),
  )
  expect(fields.filter(({ field, column }) => field !== column).length).toBeGreaterThan(0)
  expect(fields.filter(({ table, field, column }) => columnOf(table, field) !== column)).toEqual([])
  expect(columnOf('Unknown', 'constructor')).toBe('constructor')
})
