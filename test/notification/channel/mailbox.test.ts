import { describe, expect, test } from 'vitest'
import { foldMailbox, mailboxStart } from '../../../src/notification/channel/mailbox.ts'

describe('the mailbox of an address', () => {
  test.each([
    ['ana@example.com', 'ana@example.com'],
    ['Ana@Example.COM', 'ana@example.com'],
    ['ana+status@example.com', 'ana@example.com'],
    ['ana+a+b@example.com', 'ana@example.com'],
    ['a.na@example.com', 'a.na@example.com'],
    ['a.n.a@gmail.com', 'ana@gmail.com'],
    ['A.N.A+x.y@GoogleMail.com', 'ana@gmail.com'],
    ['ana@mail.gmail.com', 'ana@mail.gmail.com'],
    ['ana@notgmail.com', 'ana@notgmail.com'],
    ['+ana@example.com', '+ana@example.com'],
  ])('%s is %s', (address, mailbox) => {
    expect(foldMailbox(address)).toBe(mailbox)
  })

  test('is a mailbox of its own with the same search prefix', () => {
    const locals = ['ana', 'a.na', 'a.n.a+x', 'ANA+', '+ana', 'a+b.c', 'ana.']
    const domains = ['example.com', 'gmail.com', 'googlemail.com']
    for (const address of locals.flatMap((local) => domains.map((domain) => `${local}@${domain}`))) {
      const mailbox = foldMailbox(address)
      expect(foldMailbox(mailbox), address).toBe(mailbox)
      expect(mailboxStart(mailbox), address).toBe(mailboxStart(address))
    }
  })
})
