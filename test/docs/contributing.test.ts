import { existsSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const guide = readFileSync('docs/contributing.md', 'utf8')

test('the way from a due probe to the alert names files that exist, and says how many', () => {
  const names = [...guide.matchAll(/(?<=^ {2}│ )\S+/gm)].map(([name]) => name)
  expect(names.filter((name) => !existsSync(`src/${name}`))).toEqual([])
  expect(guide).toContain(`These are ${new Set(names).size} files`)
})

test('the guide names each Debian package that tests use', () => {
  const script = readFileSync('.ci/run', 'utf8')
  const installed = [...script.matchAll(/apt-get install ((?:-[\w=-]+ )*)([^>\n]+)/g)].flatMap(([, , names = '']) =>
    names.trim().split(' '),
  )
  expect(installed).toContain('mariadb-server')
  expect(installed.filter((name) => !guide.includes(`\`${name}\``))).toEqual([])
})
