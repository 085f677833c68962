import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { blocks } from '../../support/production-page.js';
import { FreshApplication, nest, NEST_12_ESM } from '../../package/support/fresh-application.js';
import { pack } from '../../package/support/pack.js';

const run = promisify(execFile);

/** An application with the page's own health checks; `ends` is that of a process that crashes. */
const MAIN = `
import 'reflect-metadata';
import { Controller, Module, Param, Post } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { DistributedLockModule, Fence, injected, Locked } from 'nestjs-zookeeper-lock';
import { HealthModule } from './health.js';

@Controller('orders')
class OrdersController {
  @Post(':id')
  @Locked('/orders/:id')
  async pay(@Param('id') id: string, @Fence() token: bigint = injected()): Promise<string> {
    return String(token);
  }

  @Post(':id/slowly')
  @Locked('/orders/:id')
  async paySlowly(@Param('id') id: string): Promise<string> {
    console.log('holding');
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    return 'paid';
  }

  @Post('any/end')
  end(): void {
    setImmediate(() => process.exit(1));
  }
}

@Module({
  imports: [DistributedLockModule.forRoot({ connect: process.env['ZOOKEEPER'] ?? '' }), HealthModule],
  controllers: [OrdersController],
})
class AppModule {}

const app = await NestFactory.create(AppModule);
app.enableShutdownHooks();
await app.listen(3000);
`;

/** Makes an image of nothing but Node, what that links to, and a fresh application of Nest 12 with the packed package. */
export async function makeOrdersImage(image: string, folder: string): Promise<void> {
  const application = new FreshApplication(join(folder, 'orders'));
  const health = blocks('ts').find((text) => text.includes('class HealthModule')) ?? '';
  const { tarball } = await pack(folder);
  const recipe = {
    ...NEST_12_ESM,
    manifest: {
      type: 'module',
      dependencies: { ...nest('12'), '@nestjs/terminus': '^12.0.0' },
      devDependencies: { '@types/node': '^20.19.0', typescript: '~6.0.3' },
    },
    compilerOptions: { ...NEST_12_ESM.compilerOptions, types: ['node'] },
    otherFiles: { 'src/health.ts': health, 'src/main.ts': MAIN, 'src/counters.controller.spec.ts': 'export {};' },
  };
  await application.make(recipe, tarball);
  await application.run('npm', 'prune', '--omit=dev', '--no-audit', '--no-fund');

  const root = join(folder, 'root');
  const { stdout: linked } = await run('ldd', [process.execPath]);
  const libraries = [...linked.matchAll(/\/\S+/g)].map(([path]) => path);
  copy(process.execPath, join(root, 'usr/bin/node'));
  for (const path of libraries) copy(path, join(root, path));
  for (const name of ['package.json', 'node_modules', 'dist'])
    copy(join(application.folder, name), join(root, 'app', name));
  mkdirSync(join(root, 'tmp'));
  await run('bash', [
    '-c',
    `set -o pipefail; tar -C "${root}" -c . | docker import --change 'WORKDIR /app' - "${image}"`,
  ]);
}

function copy(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true });
  cpSync(realpathSync(from), to, { recursive: true });
}
