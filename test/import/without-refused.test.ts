import { describe, expect, test } from 'vitest'
import { translateUptimeKuma } from '../../src/import/uptime-kuma.ts'
import { withoutRefused } from '../../src/import/without-refused.ts'

const { objects } = translateUptimeKuma(
  JSON.stringify({
    monitorList: [1, 2].map((id) => ({
      id,
      name: `M${id}`,
      type: 'http',
      url: 'https://a.example',
      notificationIDList: { [id]: true },
    })),
    notificationList: [1, 2].map((id) => ({ id, name: `N${id}`, config: { type: 'slack' } })),
  }),
)

describe('leaving out refused objects', () => {
  test('a refused monitor is removed with its service and its channel', () => {
    const left = withoutRefused(objects, [
      { path: ['monitors', 'uptime-kuma-1', 'http', 'url'], message: 'must be public' },
    ])
    expect(Object.values(left?.objects ?? {}).map((all) => [...all.keys()])).toEqual([
      [],
      ['uptime-kuma-2'],
      ['uptime-kuma-2'],
      [],
      ['uptime-kuma-2'],
      [],
      [],
    ])
    expect(left?.notes.map(({ section, name, reason }) => `${section} ${name}: ${reason}`)).toEqual([
      'monitors M1: http.url must be public',
      'services M1: None of its monitors is imported.',
      'channels N1: None of its monitors or services is imported.',
    ])
  })

  test('a refused interval becomes the default', () => {
    const left = withoutRefused(objects, [
      { path: ['monitors', 'uptime-kuma-1', 'intervalSeconds'], message: 'must be at least 60' },
    ])
    expect(left?.objects.monitors.get('uptime-kuma-1')).not.toHaveProperty('intervalSeconds')
    expect(left?.notes).toMatchObject([{ outcome: 'PARTLY', name: 'M1' }])
  })

  test('a refusal that names no object cannot be resolved', () => {
    expect(withoutRefused(objects, [{ path: ['yaml'], message: 'is too long' }])).toBeNull()
  })
})
