import { expect, test } from 'vitest'
import { maintenancePath } from '../../src/status-page/timeline-queries.ts'

test('a maintenance has a page of its own, whatever its status', () => {
  expect(maintenancePath('mnt_1')).toBe('/maintenance/mnt_1')
})
