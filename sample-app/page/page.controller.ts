import { readFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import { Controller, Get, Header } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';

/** The compiler copies no such files: they stay where the sources are. */
const FOLDER = import.meta.dirname.replace(`${sep}dist${sep}sample-app`, `${sep}sample-app`);

@ApiExcludeController()
@Controller()
export class PageController {
  readonly #html = fileOfPage('index.html');
  readonly #style = fileOfPage('page.css');
  readonly #script = fileOfPage('page.js');

  @Get()
  @Header('Content-Type', 'text/html; charset=utf-8')
  html(): string {
    return this.#html;
  }

  @Get('page.css')
  @Header('Content-Type', 'text/css; charset=utf-8')
  style(): string {
    return this.#style;
  }

  @Get('page.js')
  @Header('Content-Type', 'text/javascript; charset=utf-8')
  script(): string {
    return this.#script;
  }
}

function fileOfPage(name: string): string {
  return readFileSync(join(FOLDER, name), 'utf8');
}
