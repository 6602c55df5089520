package bot

import "reflect"

// Defaults returns a configuration in which no option was given.
func Defaults() Config {
	var c Config
	for _, o := range Options {
		if o.Default {
			o.set(&c, Value{On: true})
		}
	}
	return c
}

// position returns the index of the key in the JSON of a configuration, or -1.
func position(key string) int {
	if i, ok := positions[key]; ok {
		return i
	}
	return -1
}

// positions are the indexes of the fields of Config by JSON key.
var positions = func() map[string]int {
	byKey := map[string]int{}
	config := reflect.TypeFor[Config]()
	for i := range config.NumField() {
		byKey[config.Field(i).Tag.Get("json")] = i
	}
	return byKey
}()

// field returns the option's field of the configuration.
func (o *Option) field(c *Config) reflect.Value {
	return reflect.ValueOf(c).Elem().Field(positions[o.Key])
}

// kind returns the type of the option's values: reflect.String, reflect.Slice or reflect.Bool.
func (o *Option) kind() reflect.Kind {
	return reflect.TypeFor[Config]().Field(positions[o.Key]).Type.Kind()
}

// IsToggle reports whether the option is on or off.
func (o *Option) IsToggle() bool { return o.kind() == reflect.Bool }

// IsList reports whether the option has a list of values.
func (o *Option) IsList() bool { return o.kind() == reflect.Slice }

// IsText reports whether the option's value is free text: neither one of fixed words nor a service.
func (o *Option) IsText() bool { return o.kind() == reflect.String && o.Enum == nil && o.Kind == "" }
