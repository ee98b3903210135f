import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import { Hono } from 'hono'
import { afterAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { answerWith, sendAnswer } from '../../../src/http/response/send-answer.ts'

const headers = { 'content-type': 'text/plain; charset=utf-8', etag: 'W/"one"' }
const app = new Hono()
app.get('/whole', (c) => sendAnswer(c, answerWith(Buffer.from('Grüße'), 200, headers)))
app.get('/same', (c) => sendAnswer(c, answerWith(null, 304, headers)))

const listener = getRequestListener(app.fetch, { overrideGlobalObjects: false })
const server = createServer((request, response) => void listener(request, response)).listen(0, '127.0.0.1')
await once(server, 'listening')
afterAll(() => void server.close())
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

describe.each([
  ['over a connection', (path: string, method: string) => fetch(url + path, { method })],
  ['of the router alone', async (path: string, method: string) => app.request(path, { method })],
])('an answer %s', (_, ask) => {
  test('has its body and its headers', async () => {
    const response = await ask('/whole', 'GET')
    expect(response.status).toBe(200)
    expect(await response.text()).toBe('Grüße')
    for (const [name, value] of Object.entries(headers)) expect(response.headers.get(name)).toBe(value)
  })

  test('to HEAD has headers only', async () => {
    const complaint = vi.spyOn(console, 'error')
    onTestFinished(() => complaint.mockRestore())
    const response = await ask('/whole', 'HEAD')
    expect([response.status, response.headers.get('etag'), await response.text()]).toEqual([200, 'W/"one"', ''])
    expect(response.headers.get('content-length')).toBe(String(Buffer.byteLength('Grüße')))
    expect(complaint).not.toHaveBeenCalled()
  })

  test('may have no body', async () => {
    const response = await ask('/same', 'GET')
    expect([response.status, response.headers.get('etag'), await response.text()]).toEqual([304, 'W/"one"', ''])
  })
})

test('many responses arrive complete over one connection', async () => {
  const answers = await Promise.all(Array.from({ length: 50 }, async () => (await fetch(`${url}/whole`)).text()))
  expect(new Set(answers)).toEqual(new Set(['Grüße']))
})
