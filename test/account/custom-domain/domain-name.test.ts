import { describe, expect, test } from 'vitest'
import { domainProblem, originOfHost, pageHostOf } from '../../../src/account/custom-domain/domain-name.ts'

const own = 'must not belong to the domain of this service itself'
const unset = 'cannot be used: the operator has not set BASE_URL, the address of this service itself'
const bare = 'must be a name below a public suffix, such as status.example.com'

describe('a custom domain', () => {
  test.each<[base: string, name: string, problem: string | null]>([
    ['https://allclear.example.com', 'status.acme.com', null],
    ['https://allclear.example.com', 'acme.com', null],
    ['https://allclear.example.com', 'allclear.example.com', own],
    ['https://Allclear.Example.com', 'allclear.example.com', own],
    ['https://allclear.example.com', 'example.com', own],
    ['https://allclear.example.com', 'other.example.com', own],
    ['https://allclear.example.com', 'a.allclear.example.com', own],
    ['https://allclear.example.com', 'allclear.example.com.evil.org', null],
    ['https://allclear.example.com', 'notexample.com', null],
    ['https://allclear.example.co.uk', 'acme.co.uk', null],
    ['https://allclear.example.co.uk', 'www.example.co.uk', own],
    ['https://allclear.example.com', 'co.uk', bare],
    ['https://allclear.example.com', 'com', bare],
    // Tenants of one hosting domain are unrelated.
    ['https://allclear.github.io', 'acme.github.io', null],
    ['https://allclear.github.io', 'a.allclear.github.io', own],
    ['https://allclear.github.io', 'github.io', bare],
    ['http://203.0.113.7:4000', 'status.acme.com', null],
    ['http://[2001:db8::1]', 'status.acme.com', null],
    ['http://localhost:4000', 'status.acme.com', unset],
    ['http://app.localhost', 'status.acme.com', unset],
  ])('%s: %s? %s', (base, name, problem) => {
    expect(domainProblem(base, name)).toBe(problem)
  })
})

describe('the host of a request', () => {
  test.each<[host: string, isOfPage: boolean]>([
    ['status.acme.com', true],
    ['xn--stats-gra.acme.com', true],
    ['status.acme.com.', false],
    ['status.acme.com:443', false],
    ['Status.acme.com', false],
    [' status.acme.com', false],
    ['status_page.acme.com', false],
    ['-status.acme.com', false],
    ['status..acme.com', false],
    ['status.acme.com/', false],
    ['status%2eacme.com', false],
    ['stätus.acme.com', false],
    ['status。acme。com', false],
    ['203.0.113.7', false],
    ['[2001:db8::1]', false],
    ['allclear.example.com', false],
    ['other.example.com', false],
    ['co.uk', false],
    [`${'a'.repeat(64)}.acme.com`, false],
    ['', false],
  ])('%j may be that of a page: %j', (host, isOfPage) => {
    expect(pageHostOf('https://allclear.example.com', host)).toBe(isOfPage ? host : null)
  })
})

test('a page’s own host has the scheme of the service, and no port', () => {
  expect(originOfHost('https://allclear.example.com', 'status.acme.com')).toBe('https://status.acme.com')
  expect(originOfHost('http://allclear.example.com:4000', 'status.acme.com')).toBe('http://status.acme.com')
})
