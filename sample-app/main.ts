import 'reflect-metadata';
import { Logger } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { AppModule } from './app.module.js';
import { prepare } from './prepare.js';
import { hostFrom, isEmbedded, portFrom, settingsFrom, whoReaches } from './settings.js';

const settings = settingsFrom(process.env);
const logger = new Logger('SampleApp');
const app = await NestFactory.create<NestExpressApplication>(AppModule.with(settings), { bodyParser: false });
prepare(app);
// Without it SIGTERM ends the process at once, and the locks only go when the session times out.
app.enableShutdownHooks();
const host = hostFrom(process.env);
await app.listen(portFrom(process.env), host);

if (isEmbedded(settings)) {
  logger.warn(
    'Embedded: locks and files are those of this run only. To share them among instances, start each with ' +
      'ZOOKEEPER_CONNECT=host:2181 and a PORT of its own: ZOOKEEPER_CONNECT=localhost:2181 PORT=3001 npm start',
  );
} else {
  logger.log(`Fleet: the locks are shared through ${settings.connect}`);
}
logger.log(whoReaches(host));
const url = (await app.getUrl()).replace('[::1]', 'localhost');
logger.log(`Open ${url} (HTTP API: ${url}/docs). The files are in ${settings.dataDir}`);
