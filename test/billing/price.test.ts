import { describe, expect, test } from 'vitest'
import { higherTiers, isHigher, moneyText, offeredTiers, priceOf, tierOfPrice } from '../../src/billing/price.ts'
import { readConfig } from '../../src/core/config.ts'

const config = readConfig({})

test('a tier is identified by its exact price', () => {
  const tierAt = (amount: number, currency = 'eur') => tierOfPrice({ amount, currency }, config)
  expect([tierAt(2900), tierAt(9900)]).toEqual(['PRO', 'TEAM'])
  expect([tierAt(2899), tierAt(2901), tierAt(0), tierAt(-2900), tierAt(2900, 'usd')]).toEqual(Array(5).fill(null))
  const other = readConfig({ STRIPE_PRO_AMOUNT: '500', STRIPE_CURRENCY: 'usd' })
  expect(tierOfPrice({ amount: 500, currency: 'usd' }, other)).toBe('PRO')
  expect(priceOf('TEAM', other)).toEqual({ amount: 9900, currency: 'usd' })
})

test('settings with two equal prices are rejected', () => {
  expect(() => readConfig({ STRIPE_PRO_AMOUNT: '9900' })).toThrow('STRIPE_TEAM_AMOUNT')
  expect(() => readConfig({ STRIPE_PRO_YEARLY_AMOUNT: '9900' })).toThrow('STRIPE_PRO_YEARLY_AMOUNT')
})

test('tiers have an order', () => {
  expect([isHigher('PRO', 'FREE'), isHigher('TEAM', 'PRO'), isHigher('PRO', 'PRO'), isHigher('FREE', 'TEAM')]).toEqual([
    true,
    true,
    false,
    false,
  ])
})

describe('moneyText', () => {
  test.each([
    [2900, 'eur', '€29'],
    [950, 'eur', '€9.50'],
    [0, 'eur', '€0'],
    [9900, 'usd', '$99'],
    [2900, 'jpy', '¥2,900'],
  ])('%i %s is %s', (amount, currency, text) => {
    expect(moneyText({ amount, currency })).toBe(text)
  })
})

test('higher tiers with a payment link are offered', () => {
  const pro = { STRIPE_PAYMENT_LINK_PRO: 'https://buy.example/pro', STRIPE_PAYMENT_LINK_TEAM: undefined }
  const both = { ...pro, STRIPE_PAYMENT_LINK_TEAM: 'https://buy.example/team' }
  const none = { STRIPE_PAYMENT_LINK_PRO: undefined, STRIPE_PAYMENT_LINK_TEAM: undefined }
  const offered = (config: typeof none | typeof pro | typeof both) =>
    (['FREE', 'PRO', 'TEAM'] as const).map((tier) => offeredTiers(config, tier))
  expect((['FREE', 'PRO', 'TEAM'] as const).map(higherTiers)).toEqual([['PRO', 'TEAM'], ['TEAM'], []])
  expect(offered(none)).toEqual([[], [], []])
  expect(offered(pro)).toEqual([['PRO'], [], []])
  expect(offered(both)).toEqual([['PRO', 'TEAM'], ['TEAM'], []])
})
