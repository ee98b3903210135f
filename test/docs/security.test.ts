import { existsSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { root } from '../../src/core/process/paths.ts'

test('every file and folder that the threat model names exists', () => {
  const text = readFileSync(new URL('SECURITY.md', root), 'utf8')
  const named = [...text.matchAll(/`([a-z][\w/-]*\/[\w./-]*)`/g)].map(([, path = '']) => path)
  expect(named.length).toBeGreaterThan(30)
  const exists = (path: string) => existsSync(new URL(path.startsWith('test/') ? path : `src/${path}`, root))
  expect(named.filter((path) => !exists(path))).toEqual([])
})
