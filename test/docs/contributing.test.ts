import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

test('the guide names each Debian package that tests use', () => {
  const script = readFileSync('.ci/run', 'utf8')
  const installed = [...script.matchAll(/apt-get install ((?:-[\w=-]+ )*)([^>\n]+)/g)].flatMap(([, , names = '']) =>
    names.trim().split(' '),
  )
  expect(installed).toContain('mariadb-server')
  const guide = readFileSync('docs/contributing.md', 'utf8')
  expect(installed.filter((name) => !guide.includes(`\`${name}\``))).toEqual([])
})
