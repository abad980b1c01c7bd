import { lookAtAll } from "./axe";

lookAtAll({ width: 390, height: 844 });
