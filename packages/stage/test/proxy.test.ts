import t from 'tap'
import { proxyFor } from '../src/proxy.js'

t.test('37: proxies as curl has them', async (t) => {
  const p = 'http://user:pass@proxy.test:3128'
  const cases: [url: string, environment: Record<string, string>, proxied: boolean][] = [
    ['https://api.test/v1', {}, false],
    ['https://api.test/v1', { HTTPS_PROXY: p }, true],
    ['https://api.test/v1', { https_proxy: p }, true],
    ['https://api.test/v1', { ALL_PROXY: p }, true],
    ['https://api.test/v1', { http_proxy: p }, false],
    ['http://api.test/v1', { http_proxy: p }, true],
    ['http://api.test/v1', { HTTP_PROXY: p }, false],
    ['http://api.test/v1', { all_proxy: p }, true],
    ['https://api.test/v1', { HTTPS_PROXY: p, NO_PROXY: 'localhost,.test,other' }, false],
    ['https://api.test/v1', { HTTPS_PROXY: p, no_proxy: 'API.test' }, false],
    ['https://api.test/v1', { HTTPS_PROXY: p, no_proxy: 'i.test' }, true],
    ['https://api.test/v1', { HTTPS_PROXY: p, no_proxy: '*' }, false],
    ['https://api.test/v1', { HTTPS_PROXY: p, no_proxy: 'api.test:443' }, false],
    ['https://api.test/v1', { HTTPS_PROXY: p, no_proxy: 'api.test:8443' }, true],
    ['https://api.test/v1', { HTTPS_PROXY: p, no_proxy: '', NO_PROXY: 'api.test' }, false],
    ['http://localhost:11434/v1', { http_proxy: p }, false],
    ['http://127.0.0.1:1/', { http_proxy: p }, false],
    ['http://[::1]:1/', { http_proxy: p }, false],
    ['http://10.0.0.1/', { http_proxy: p, no_proxy: '10.0.0.1 x' }, false],
  ]
  for (const [url, environment, proxied] of cases) t.equal(proxyFor(url, environment) !== undefined, proxied, `${url} ${JSON.stringify(environment)}`)
  t.same(proxyFor('https://api.test', { HTTPS_PROXY: p }), { url: p, name: 'proxy.test:3128', variable: 'HTTPS_PROXY' })
  t.same(proxyFor('https://api.test', { HTTPS_PROXY: 'proxy.test:1' }), { url: 'http://proxy.test:1', name: 'proxy.test:1', variable: 'HTTPS_PROXY' })
})
